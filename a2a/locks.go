package a2a

import "sync"

// locks holds back a second call about the same thing until the first one is
// done. A name costs memory only while somebody holds it.
type locks struct {
	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	mu   sync.Mutex
	want int
}

// lock returns when nobody else holds the name; unlock gives it up.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*held{}
	}
	h, ok := l.held[name]
	if !ok {
		h = &held{}
		l.held[name] = h
	}
	h.want++
	l.mu.Unlock()
	h.mu.Lock()
	return func() {
		h.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if h.want--; h.want == 0 {
			delete(l.held, name)
		}
	}
}
