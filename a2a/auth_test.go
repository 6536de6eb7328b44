package a2a

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-agents/parley/a2a/wire"
)

// keepCaller gives a service that notes who called.
func keepCaller(c *wire.Call) *scripted {
	return &scripted{called: func(_ wire.Method, got wire.Call, _ wire.Object) { *c = got }}
}

func TestWithoutAuthenticationCallersOfThisMachineAreAnonymous(t *testing.T) {
	var c wire.Call
	s := newSite(t, Config{}, keepCaller(&c))
	s.ask("GET", "/tasks", "")
	if c.Caller != "agent://local/anonymous" || !c.Loopback {
		t.Errorf("got %+v", c)
	}
}

func TestWithoutAuthenticationOtherMachinesAreRefusedWhateverTheySay(t *testing.T) {
	var c wire.Call
	elsewhere := func(cfg Config) int {
		r := httptest.NewRequest("GET", "http://localhost/tasks", nil) // from 192.0.2.1
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		r.Header.Set("Forwarded", "for=127.0.0.1")
		w := httptest.NewRecorder()
		scriptedServer(t, cfg, keepCaller(&c)).Handler().ServeHTTP(w, r)
		return w.Code
	}
	if got := elsewhere(Config{}); got != http.StatusForbidden {
		t.Errorf("got %d", got)
	}
	if got := elsewhere(Config{AllowAnonymous: true}); got != http.StatusOK || c.Loopback || c.Caller != "agent://local/anonymous" {
		t.Errorf("allowed: %d, %+v", got, c)
	}
}

func TestCallersAreWhoTheirCredentialsProve(t *testing.T) {
	var c wire.Call
	cfg := Config{Authenticate: []Authenticator{
		BearerTokens(Secrets(map[string]string{"s3cret": "ann", "other": "bob"})),
		APIKeys("x-api-key", Secrets(map[string]string{"k": "ann"})),
		PeerTokens(identify(func(token, receiver string) (string, error) {
			if token != "good" || receiver != "agent://local/hotels" {
				return "", errors.New("expired")
			}
			return "agent://acme/buyer", nil
		})),
	}}
	s := newSite(t, cfg, keepCaller(&c))
	ann := ForeignURI("local", "bearer", "ann")
	for name, x := range map[string]struct {
		headers []string
		want    string
	}{
		"bearer":                       {[]string{"Authorization", "Bearer s3cret"}, ann},
		"bearer in lower case":         {[]string{"Authorization", "bearer s3cret"}, ann},
		"another subject":              {[]string{"Authorization", "Bearer other"}, ForeignURI("local", "bearer", "bob")},
		"the same name by another way": {[]string{"X-API-Key", "k"}, ForeignURI("local", "apiKey-x-api-key", "ann")},
		"peer":                         {[]string{"Parley-Token", "good"}, "agent://acme/buyer"},
		"the first way decides":        {[]string{"Authorization", "Bearer s3cret", "Parley-Token", "good"}, ann},
		"none":                         {nil, ""},
		"wrong":                        {[]string{"Authorization", "Bearer s3cre"}, ""},
		"empty":                        {[]string{"Authorization", "Bearer "}, ""},
		"another scheme":               {[]string{"Authorization", "Basic s3cret"}, ""},
		"wrong key":                    {[]string{"X-API-Key", "K"}, ""},
		"wrong, then right":            {[]string{"Authorization", "Bearer x", "X-API-Key", "k"}, ""},
		"wrong peer":                   {[]string{"Parley-Token", "bad"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c = wire.Call{}
			r := s.ask("GET", "/hotels/tasks", "", x.headers...)
			if x.want == "" {
				r.expect(t, http.StatusUnauthorized, wire.Unauthenticated)
				s.rpc("/hotels", wire.ListTasks, `{}`, x.headers...).expect(t, http.StatusUnauthorized, wire.Unauthenticated)
				if got := strings.Join(r.Header.Values("WWW-Authenticate"), "; "); !strings.Contains(got, "Bearer realm=") || !strings.Contains(got, `name="X-Api-Key"`) {
					t.Errorf("challenged by %q", got)
				}
				if strings.Contains(r.body, "expired") {
					t.Errorf("the caller learns too much: %s", r.body)
				}
			} else if r.StatusCode != http.StatusOK {
				t.Errorf("got %d %s", r.StatusCode, r.body)
			}
			if c.Caller != x.want {
				t.Errorf("the caller is %q, want %q", c.Caller, x.want)
			}
		})
	}
	if r := s.ask("GET", wire.CardPath, ""); r.StatusCode != http.StatusOK || !strings.Contains(r.body, `"securityRequirements":[{"schemes":{"bearer":`) {
		t.Errorf("the card needs no credentials: %d %s", r.StatusCode, r.body)
	}
}

type identify func(token, receiver string) (string, error)

func (f identify) Identify(_ context.Context, token, receiver string, _ bool) (string, error) {
	return f(token, receiver)
}

func TestAFaultWhileAuthenticatingIsNotTheCallers(t *testing.T) {
	s := newSite(t, Config{Authenticate: []Authenticator{
		BearerTokens(func(context.Context, string) (string, error) { return "", errors.New("directory unreachable") }),
	}}, &scripted{})
	r := s.ask("GET", "/tasks", "", "Authorization", "Bearer x")
	r.expect(t, http.StatusInternalServerError, wire.Internal)
	if strings.Contains(r.body, "directory") {
		t.Errorf("the caller sees internals: %s", r.body)
	}
}

func TestASubjectThatIsEmptyIsNobody(t *testing.T) {
	s := newSite(t, Config{Authenticate: []Authenticator{BearerTokens(Secrets(map[string]string{"": "ann", "x": ""}))}}, &scripted{})
	for _, token := range []string{"", "x"} {
		s.ask("GET", "/tasks", "", "Authorization", "Bearer "+token).expect(t, http.StatusUnauthorized, wire.Unauthenticated)
	}
}

func TestTheHookSaysWhoMayDoWhat(t *testing.T) {
	cfg := Config{Authorize: func(_ context.Context, a Access) error {
		switch {
		case a.Operation == wire.ListTasks && a.Agent == "agent://local/flights" && a.Caller == "agent://local/anonymous" && a.Loopback:
			return nil
		case a.Operation == wire.GetTask:
			return wire.Errorf(wire.PermissionDenied, "not before noon")
		}
		return errors.New("rule 42")
	}}
	s := newSite(t, cfg, &scripted{})
	if r := s.ask("GET", "/tasks", ""); r.StatusCode != http.StatusOK {
		t.Errorf("got %d %s", r.StatusCode, r.body)
	}
	if r := s.ask("GET", "/hotels/tasks", ""); strings.Contains(r.body, "42") || r.expect(t, http.StatusForbidden, wire.PermissionDenied) == nil {
		t.Errorf("got %s", r.body)
	}
	if e := s.rpc("/", wire.GetTask, `{"id":"t"}`).expect(t, http.StatusForbidden, wire.PermissionDenied); e.Message != "not before noon" {
		t.Errorf("got %q", e.Message)
	}
}

func TestForeignCallersHaveAURIOfTheirOwn(t *testing.T) {
	if got, want := ForeignURI("acme", "bearer", "ann"), "agent://acme/x-"; !strings.HasPrefix(got, want) || len(got) != len(want)+16 {
		t.Errorf("got %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "scheme"), rapid.String().Draw(t, "subject")
		c, d := rapid.String().Draw(t, "scheme"), rapid.String().Draw(t, "subject")
		if same := a == c && b == d; same != (ForeignURI("l", a, b) == ForeignURI("l", c, d)) {
			t.Fatalf("%q %q and %q %q", a, b, c, d)
		}
		// Moving the border between the two makes another pair.
		if b != "" && ForeignURI("l", a, b) == ForeignURI("l", a+b, "") {
			t.Fatalf("%q %q is %q", a, b, a+b)
		}
	})
}

// certificate makes a certificate that signs itself.
func certificate(t *testing.T, name, uri string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if uri != "" {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		c.URIs = []*url.URL{u}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestAClientCertificateIsItsSubject(t *testing.T) {
	named, spiffe, stranger := certificate(t, "ann", ""), certificate(t, "x", "spiffe://acme/ann"), certificate(t, "ann", "")
	pool := x509.NewCertPool()
	pool.AddCert(named.Leaf)
	pool.AddCert(spiffe.Leaf)
	var c wire.Call
	srv := scriptedServer(t, Config{Authenticate: []Authenticator{ClientCertificates()}}, keepCaller(&c))
	ts := httptest.NewUnstartedServer(srv.Handler())
	ts.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: pool}
	ts.Config.ErrorLog = srv.httpServer(nil).ErrorLog
	ts.StartTLS()
	defer ts.Close()
	get := func(certs ...tls.Certificate) (int, error) {
		trust := x509.NewCertPool()
		trust.AddCert(ts.Certificate())
		over := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust, Certificates: certs}}
		defer over.CloseIdleConnections()
		s := &site{t: t, server: srv, http: ts}
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.http.URL+"/tasks", nil)
		if err != nil {
			return 0, err
		}
		r.Header.Set("A2A-Version", "1.0")
		resp, err := (&http.Client{Transport: over}).Do(r)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	for subject, cert := range map[string]tls.Certificate{"CN=ann": named, "spiffe://acme/ann": spiffe} {
		if code, err := get(cert); code != http.StatusOK || err != nil || c.Caller != ForeignURI("local", "mtls", subject) {
			t.Errorf("%s: %d, %v, %s", subject, code, err, c.Caller)
		}
	}
	if code, err := get(); code != http.StatusUnauthorized || err != nil {
		t.Errorf("without a certificate: %d, %v", code, err)
	}
	// A client does not offer one that no authority of the server signed, and the
	// server would not verify it.
	if code, err := get(stranger); code == http.StatusOK {
		t.Errorf("a stranger's certificate: %d, %v", code, err)
	}
}

func TestWhyCredentialsAreRefusedIsForTheOperatorAlone(t *testing.T) {
	var log bytes.Buffer
	const secret = "s3cret-that-is-wrong"
	s := newSite(t, Config{Authenticate: []Authenticator{BearerTokens(Secrets(map[string]string{"right": "ann"}))},
		Log: slog.New(slog.NewTextHandler(&log, nil))}, &scripted{})
	r := s.ask("GET", "/tasks", "", "Authorization", "Bearer "+secret)
	r.expect(t, http.StatusUnauthorized, wire.Unauthenticated)
	if !strings.Contains(log.String(), "credentials refused") || strings.Contains(log.String()+r.body, secret) {
		t.Errorf("the log has %q, the caller is told %s", log.String(), r.body)
	}
}
