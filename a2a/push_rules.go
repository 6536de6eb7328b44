package a2a

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

const (
	maxPushURL    = 2048
	maxPushSecret = 4096
	maxPushID     = 128
)

// webhook is what the store keeps of a push notification config.
type webhook struct {
	URL         string `json:"url"`
	Token       string `json:"token,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Credentials string `json:"credentials,omitempty"`
	// Parley: whoever set it up reads the extension.
	Parley bool `json:"parley,omitempty"`
}

func webhookOf(c store.Callback) (webhook, error) {
	var hook webhook
	if err := json.Unmarshal(c.Config, &hook); err != nil {
		// The text of the fault could quote a secret.
		return webhook{}, fmt.Errorf("push notification config %s of task %s cannot be read", c.ID, c.Task)
	}
	return hook, nil
}

// pushRules say which push notification configs are taken.
type pushRules struct {
	// plain: a URL may be http.
	plain   bool
	targets targets
}

// check judges a config as a client wrote it; in is where it stands in the
// request. The address of a host that is a name is judged when it is dialled.
func (p pushRules) check(in string, r *wire.PushConfig) error {
	if err := p.checkURL(r.URL); err != nil {
		return invalidPush(in+"url", "%s", err)
	}
	if len(r.ID) > maxPushID || strings.ContainsFunc(r.ID, notInID) {
		return invalidPush(in+"id", "it must have at most %d characters, all letters, digits or one of -._~:", maxPushID)
	}
	if !headerText(r.Token) {
		return invalidPush(in+"token", "it must fit a header: at most %d bytes without control characters", maxPushSecret)
	}
	a := r.Authentication
	if a == nil {
		return nil
	}
	if a.Scheme == "" || len(a.Scheme) > maxPushID || strings.ContainsFunc(a.Scheme, notInToken) {
		return invalidPush(in+"authentication.scheme", "it must be the name of an HTTP authentication scheme")
	}
	if !headerText(a.Credentials) {
		return invalidPush(in+"authentication.credentials", "they must fit a header: at most %d bytes without control characters", maxPushSecret)
	}
	return nil
}

// checkURL says in words for the client what a URL lacks.
func (p pushRules) checkURL(raw string) error {
	if raw == "" {
		return fmt.Errorf("it is missing")
	}
	if len(raw) > maxPushURL {
		return fmt.Errorf("it is longer than %d bytes", maxPushURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return fmt.Errorf("it is no URL")
	case u.Scheme != "https" && !(p.plain && u.Scheme == "http"):
		if p.plain {
			return fmt.Errorf("its scheme must be https or http")
		}
		return fmt.Errorf("its scheme must be https")
	case u.Opaque != "" || u.Hostname() == "":
		return fmt.Errorf("it names no host")
	case u.User != nil:
		return fmt.Errorf("it must not carry a user or a password; they belong in authentication")
	case strings.Contains(raw, "#"):
		return fmt.Errorf("it must not have a fragment")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && p.targets.check(addr) != nil {
		return fmt.Errorf("its address is not one that this agent may call")
	}
	return nil
}

// headerText reports whether s can be the value of an HTTP header.
func headerText(s string) bool {
	return len(s) <= maxPushSecret && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// notInToken reports characters that are no part of a token (RFC 9110 section
// 5.6.2).
func notInToken(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) }

func notInID(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("-._~:", r) }

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

func invalidPush(field, format string, args ...any) error {
	e := wire.Errorf(wire.InvalidParams, format, args...)
	e.Field = field
	return e
}
