package a2a

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"code.dny.dev/ssrf"
)

func TestAWebhookIsOnThePublicInternetOrWhereTheOperatorAllowsIt(t *testing.T) {
	const never, private, always = 0, 1, 2
	for addr, allowed := range map[string]int{
		"8.8.8.8":              always,
		"2606:4700:4700::1111": always,
		"::ffff:8.8.8.8":       always,

		"127.0.0.1":          private,
		"127.9.9.9":          private,
		"::1":                private,
		"::ffff:127.0.0.1":   private,
		"::ffff:10.1.2.3":    private,
		"10.0.0.1":           private,
		"172.16.0.1":         private,
		"172.31.255.255":     private,
		"192.168.1.1":        private,
		"fd12:3456:789a::1":  private,
		"fc00::1":            private,
		"::ffff:192.168.0.1": private,

		"169.254.169.254":        never,
		"::ffff:169.254.169.254": never,
		"::ffff:a9fe:a9fe":       never,
		"169.254.0.1":            never,
		"fd00:ec2::254":          never,
		"fd00:ec2::254%eth0":     never,
		"168.63.129.16":          never,
		"::ffff:168.63.129.16":   never,
		"100.100.100.200":        never,
		"0.0.0.0":                never,
		"::":                     never,
		"255.255.255.255":        never,
		"224.0.0.1":              never,
		"ff02::1":                never,
		"fe80::1":                never,
		"fe80::1%eth0":           never,
		"64:ff9b::7f00:1":        never,
		"2002:7f00:1::":          never,
		"198.18.0.1":             never,
		"172.32.0.1":             always,
	} {
		a := netip.MustParseAddr(addr)
		if err := newTargets(false).check(a); (err == nil) != (allowed == always) {
			t.Errorf("%s: %v", addr, err)
		}
		err := newTargets(true).check(a)
		if (err == nil) != (allowed >= private) {
			t.Errorf("%s where private networks are allowed: %v", addr, err)
		}
		if err != nil && !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: %v, want ErrProhibitedIP", addr, err)
		}
	}
}

func TestAConnectionIsJudgedByItsAddressAndNetwork(t *testing.T) {
	to := newTargets(false)
	for _, c := range []struct{ network, address string }{
		{"tcp4", "127.0.0.1:80"}, {"tcp6", "[::1]:443"}, {"tcp6", "[::ffff:10.0.0.1]:443"},
		{"udp4", "8.8.8.8:53"}, {"unix", "/run/docker.sock"}, {"tcp4", "localhost:80"}, {"tcp4", "8.8.8.8"},
	} {
		if err := to.control(c.network, c.address, nil); err == nil {
			t.Errorf("a connection to %s over %s was let through", c.address, c.network)
		}
	}
	if err := to.control("tcp4", "8.8.8.8:8443", nil); err != nil {
		t.Error(err)
	}
}

// postTo sends an empty POST and returns the status of the answer.
func postTo(t *testing.T, client *http.Client, url string) (int, error) {
	t.Helper()
	answer, err := client.Post(url, "application/a2a+json", strings.NewReader("{}"))
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func TestAServerOfThisMachineIsReachedOnlyWithTheAllowance(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"} {
		client := newPushClient(newTargets(false).dialer())
		if _, err := postTo(t, client, "http://"+host+":"+port+"/"); !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("calling %s: %v, want ErrProhibitedIP", host, err)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("the server was called %d times", n)
	}
	if status, err := postTo(t, newPushClient(newTargets(true).dialer()), server.URL); status != http.StatusOK {
		t.Errorf("with the allowance it answered %d, %v", status, err)
	}
}

func TestANameThatIsPointedElsewhereBetweenTwoCallsIsJudgedAtEachCall(t *testing.T) {
	answers := []netip.Addr{netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("127.0.0.1")}
	var asked atomic.Int32
	dialer := newTargets(false).dialer()
	dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go answerName(there, func() netip.Addr { return answers[min(int(asked.Load()), 1)] })
		return here, nil
	}}
	let := errors.New("let through")
	judge := dialer.Control
	dialer.Control = func(network, address string, c syscall.RawConn) error {
		asked.Add(1)
		if err := judge(network, address, c); err != nil {
			return err
		}
		return let // nothing of this test leaves the machine
	}
	client := newPushClient(dialer)
	if _, err := postTo(t, client, "http://rebind.example.test/"); !errors.Is(err, let) {
		t.Fatalf("a public address: %v", err)
	}
	if _, err := postTo(t, client, "http://rebind.example.test/"); !errors.Is(err, ssrf.ErrProhibitedIP) {
		t.Errorf("the same name, now of this machine: %v, want ErrProhibitedIP", err)
	}
}

// answerName answers the one question of a DNS connection over TCP (RFC 1035
// section 4): its A records are the address, others there are none.
func answerName(c net.Conn, addr func() netip.Addr) {
	defer c.Close()
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, query); err != nil {
		return
	}
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	question := query[12 : end+5]
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	if kind := binary.BigEndian.Uint16(query[end+1:]); kind == 1 {
		reply[7] = 1
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, addr().AsSlice()...)
	}
	_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
}

func TestARedirectIsTheAnswerAndIsNotFollowed(t *testing.T) {
	var inner atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inner.Add(1) }))
	defer secret.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		door := httptest.NewServer(http.RedirectHandler(secret.URL, status))
		if got, err := postTo(t, newPushClient(newTargets(true).dialer()), door.URL); got != status {
			t.Errorf("a redirect with %d: %d, %v", status, got, err)
		}
		door.Close()
	}
	if n := inner.Load(); n != 0 {
		t.Errorf("the redirect was followed %d times", n)
	}
}

func TestAWebhookIsCalledDirectlyAndKeepsNoCookies(t *testing.T) {
	client := newPushClient(newTargets(true).dialer())
	if client.Transport.(*http.Transport).Proxy != nil {
		t.Error("the client may use a proxy, which no check of addresses sees through")
	}
	var cookies atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies.Add(int32(len(r.Cookies())))
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
	}))
	defer server.Close()
	for range 2 {
		if _, err := postTo(t, client, server.URL); err != nil {
			t.Fatal(err)
		}
	}
	if n := cookies.Load(); n != 0 {
		t.Errorf("%d cookies came back", n)
	}
}

func TestATLSServerMustSpeakAVersionThatIsNotBroken(t *testing.T) {
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.Config.ErrorLog = quietLog
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		server.StartTLS()
		client := newPushClient(newTargets(true).dialer())
		client.Transport.(*http.Transport).TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		if _, err := postTo(t, client, server.URL); (err == nil) != want {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		client.CloseIdleConnections()
		server.Close()
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = quietLog
	server.StartTLS()
	defer server.Close()
	if _, err := postTo(t, newPushClient(newTargets(true).dialer()), server.URL); err == nil {
		t.Error("a certificate of nobody we know was accepted")
	}
}
