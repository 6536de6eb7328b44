package protocol

import (
	"fmt"
	"strings"
	"time"
)

// NoCommonVersionError says that a peer answers none of the versions of a
// contract that are known here.
type NoCommonVersionError struct {
	// Path is the contract's path.
	Path string
	// Ours are the versions known here, Theirs those that the peer answers at
	// this time.
	Ours, Theirs []Name
}

func (e *NoCommonVersionError) Error() string {
	return fmt.Sprintf("contract %s: no common version: ours are %s, theirs are %s", e.Path, versions(e.Ours), versions(e.Theirs))
}

func versions(list []Name) string {
	if len(list) == 0 {
		return "none"
	}
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = "v" + n.number()
	}
	return strings.Join(texts, ", ")
}

// HighestCommon picks the one of our versions of a contract to use with a peer
// that advertises theirs. All of ours must be of one path.
//
// The highest major version that both sides have is taken; what is past its
// sunset does not count. Minor versions need not be equal, since a minor
// version only adds. Among several of ours the highest is taken that the peer
// knows whole, so that nothing we say is ignored; if all of ours are newer than
// what it knows, the oldest of them. Rows that name no contract are passed
// over. Without a common version the error is a *NoCommonVersionError.
func HighestCommon(ours []Name, theirs []Advertised, now time.Time) (Name, error) {
	none := &NoCommonVersionError{Ours: ours}
	if len(ours) == 0 {
		return Name{}, none
	}
	none.Path = ours[0].Path
	newest := map[int]int{} // their highest minor version, by major
	for _, row := range theirs {
		n, err := row.Name()
		if err != nil || n.Path != none.Path || row.Ended(now) {
			continue
		}
		none.Theirs = append(none.Theirs, n)
		if minor, ok := newest[n.Major]; !ok || n.Minor > minor {
			newest[n.Major] = n.Minor
		}
	}
	var best Name
	for _, n := range ours {
		if n.Path != none.Path {
			return Name{}, fmt.Errorf("picking a common version: %s and %s are two contracts", ours[0], n)
		}
		if minor, ok := newest[n.Major]; ok && (best.Path == "" || higher(n, best, minor)) {
			best = n
		}
	}
	if best.Path == "" {
		return Name{}, none
	}
	return best, nil
}

// higher reports whether n is to be preferred to best with a peer that knows
// the major version of n up to minor.
func higher(n, best Name, minor int) bool {
	whole, bestWhole := n.Minor <= minor, best.Minor <= minor
	switch {
	case n.Major != best.Major:
		return n.Major > best.Major
	case whole != bestWhole:
		return whole
	case whole:
		return n.Minor > best.Minor
	default:
		return n.Minor < best.Minor
	}
}
