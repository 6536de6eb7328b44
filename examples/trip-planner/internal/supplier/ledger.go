package supplier

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Effect is what was done under one key. Times counts the reservations that
// were made, which an idempotent supplier keeps at one.
type Effect struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Times int    `json:"times"`
	// Business is the business exchange that it was done for.
	Business string `json:"business,omitempty"`
}

// Ledger plays the booking system of a supplier: a system elsewhere, which a
// crash of the agent that talks to it does not touch. Like real ones it takes
// an idempotency key. It is safe for concurrent use by one process that writes;
// others may open it at any time to read what is there.
type Ledger struct {
	path string

	mu      sync.Mutex
	effects []Effect
}

// OpenLedger reads the ledger at path, which need not exist.
func OpenLedger(path string) (*Ledger, error) {
	l := &Ledger{path: path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading a supplier's ledger: %w", err)
	}
	if err := json.Unmarshal(data, &l.effects); err != nil {
		return nil, fmt.Errorf("reading a supplier's ledger %s: %w", path, err)
	}
	return l, nil
}

// Reserve makes the reservation of a key, once, and returns its reference when
// it is on disk.
func (l *Ledger) Reserve(kind, key, business string) (reference string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	reference = base32.StdEncoding.EncodeToString(sum[:])[:6]
	if slices.ContainsFunc(l.effects, func(e Effect) bool { return e.Key == key && e.Kind == kind }) {
		return reference, nil
	}
	next := append(slices.Clone(l.effects), Effect{Key: key, Kind: kind, Times: 1, Business: business})
	if err := l.write(next); err != nil {
		return "", err
	}
	l.effects = next
	return reference, nil
}

// write replaces the file as a whole, so that a crash leaves the old or the new
// one.
func (l *Ledger) write(effects []Effect) error {
	data, err := json.Marshal(effects)
	if err != nil {
		return fmt.Errorf("writing a supplier's ledger: %w", err)
	}
	f, err := os.Create(l.path + ".new")
	if err != nil {
		return fmt.Errorf("writing a supplier's ledger: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(l.path+".new", l.path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(l.path))
	}
	if err != nil {
		return fmt.Errorf("writing a supplier's ledger: %w", err)
	}
	return nil
}

// syncFolder brings a renaming to the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Effects lists what was done for a business exchange, each key once.
func (l *Ledger) Effects(business string) []Effect {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []Effect{}
	for _, e := range l.effects {
		if e.Business == business {
			e.Business = ""
			out = append(out, e)
		}
	}
	return out
}
