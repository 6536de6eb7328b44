package trip

import (
	"fmt"
	"strings"
)

// Faults are the accidents that a run can be given.
type Faults struct {
	// RestartHotel kills the hotels' process twice: before it has committed
	// that a search was accepted, and after it has committed that a booking was,
	// but before it has said so or completed it.
	RestartHotel bool
	// DropReply loses every answer to the flight booking on its way until that
	// is sent again.
	DropReply bool
	// BadJSON garbles the arguments of the model's first search.
	BadJSON bool
	// Injection lets every hotel's note order the reader to pay elsewhere.
	Injection bool
}

// ParseFaults reads a list such as "restart-hotel,drop-reply".
func ParseFaults(list string) (Faults, error) {
	var f Faults
	for name := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(name) {
		case "":
		case "restart-hotel":
			f.RestartHotel = true
		case "drop-reply":
			f.DropReply = true
		case "bad-json":
			f.BadJSON = true
		case "injection":
			f.Injection = true
		default:
			return f, fmt.Errorf("fault %q is unknown: there are restart-hotel, drop-reply, bad-json and injection", name)
		}
	}
	return f, nil
}
