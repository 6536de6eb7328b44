package a2a

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-agents/parley/a2a/wire"
	"github.com/parley-agents/parley/store"
)

// wantWire fails the test unless err is a *wire.Error of the kind at the field.
func wantWire(t *testing.T, err error, kind wire.Kind, field string) {
	t.Helper()
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Kind != kind || e.Field != field {
		t.Errorf("got %v, want %s at %q", err, kind, field)
	}
}

func TestAPushConfigIsTakenOnlyIfItCanBeCalled(t *testing.T) {
	public, private := pushRules{targets: newTargets(false)}, pushRules{plain: true, targets: newTargets(true)}
	good := func() *wire.PushConfig {
		return &wire.PushConfig{ID: "c-1", URL: "https://hooks.example:8443/a/b?c=d", Token: "t",
			Authentication: &wire.Authentication{Scheme: "Bearer", Credentials: "s"}}
	}
	for _, rules := range []pushRules{public, private} {
		if err := rules.check("", good()); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		field   string
		private bool // right where webhooks may be in private networks
		change  func(*wire.PushConfig)
	}{
		{"url", false, func(p *wire.PushConfig) { p.URL = "" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "hooks.example/a" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "/a" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https:///a" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://:443/a" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https:hooks.example" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "ftp://hooks.example/" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "file:///etc/passwd" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://me:pw@hooks.example/" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://me@hooks.example/" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://hooks.example/#top" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://hooks.example/#" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://hooks.example/\n" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://hooks.example:port/" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://hooks.example/" + strings.Repeat("a", maxPushURL) }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://169.254.169.254/latest/meta-data" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://[::ffff:169.254.169.254]/" }},
		{"url", false, func(p *wire.PushConfig) { p.URL = "https://[fe80::1%25eth0]/" }},
		{"url", true, func(p *wire.PushConfig) { p.URL = "http://hooks.example/" }},
		{"url", true, func(p *wire.PushConfig) { p.URL = "https://127.0.0.1/" }},
		{"url", true, func(p *wire.PushConfig) { p.URL = "https://[::1]:8080/" }},
		{"url", true, func(p *wire.PushConfig) { p.URL = "https://[::ffff:10.0.0.1]/" }},
		{"id", false, func(p *wire.PushConfig) { p.ID = "a/b" }},
		{"id", false, func(p *wire.PushConfig) { p.ID = "a b" }},
		{"id", false, func(p *wire.PushConfig) { p.ID = "ä" }},
		{"id", false, func(p *wire.PushConfig) { p.ID = strings.Repeat("a", maxPushID+1) }},
		{"token", false, func(p *wire.PushConfig) { p.Token = "a\r\nHost: b" }},
		{"token", false, func(p *wire.PushConfig) { p.Token = "\x7f" }},
		{"token", false, func(p *wire.PushConfig) { p.Token = strings.Repeat("a", maxPushSecret+1) }},
		{"authentication.scheme", false, func(p *wire.PushConfig) { p.Authentication.Scheme = "" }},
		{"authentication.scheme", false, func(p *wire.PushConfig) { p.Authentication.Scheme = "Bearer x" }},
		{"authentication.scheme", false, func(p *wire.PushConfig) { p.Authentication.Scheme = "a\nb" }},
		{"authentication.credentials", false, func(p *wire.PushConfig) { p.Authentication.Credentials = "a\nb" }},
	} {
		config := good()
		c.change(config)
		wantWire(t, public.check("", config), wire.InvalidParams, c.field)
		wantWire(t, public.check("at.", config), wire.InvalidParams, "at."+c.field)
		if err := private.check("", config); (err == nil) != c.private {
			t.Errorf("%+v where private networks are allowed: %v", config, err)
		}
	}
}

func TestAPushConfigIsReadAsItWasSetUp(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		call := s.call("t1")
		want := &wire.PushConfig{Tenant: "clerk", TaskID: "t1", URL: "https://a.example/", Token: "tok",
			Authentication: &wire.Authentication{Scheme: "Bearer", Credentials: "secret"}}
		made, err := s.CreatePushConfig(t.Context(), call, want)
		if err != nil {
			t.Fatal(err)
		}
		if made.ID == "" {
			t.Fatal("it got no id")
		}
		want.ID = made.ID
		if !reflect.DeepEqual(made, want) {
			t.Errorf("created %+v, want %+v", made, want)
		}
		got, err := s.GetPushConfig(t.Context(), call, &wire.PushConfigRequest{Tenant: "clerk", TaskID: "t1", ID: made.ID})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		list, err := s.ListPushConfigs(t.Context(), call, &wire.ListPushConfigsRequest{Tenant: "clerk", TaskID: "t1"})
		if err != nil || !reflect.DeepEqual(list.Configs, []wire.PushConfig{*want}) || list.NextPageToken != "" {
			t.Errorf("listed %+v, %v", list, err)
		}
	})
}

func TestOnlyTheCallerWhoseTaskItIsSeesPushConfigs(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		id := s.set("t1", "https://a.example/")
		stranger, named := wire.Call{Caller: "agent://local/stranger"}, &wire.PushConfigRequest{TaskID: "t1", ID: id}
		_, err := s.CreatePushConfig(t.Context(), stranger, &wire.PushConfig{TaskID: "t1", URL: "https://b.example/"})
		wantWire(t, err, wire.TaskNotFound, "")
		_, err = s.GetPushConfig(t.Context(), stranger, named)
		wantWire(t, err, wire.TaskNotFound, "")
		_, err = s.ListPushConfigs(t.Context(), stranger, &wire.ListPushConfigsRequest{TaskID: "t1"})
		wantWire(t, err, wire.TaskNotFound, "")
		wantWire(t, s.DeletePushConfig(t.Context(), stranger, named), wire.TaskNotFound, "")
		if _, err := s.GetPushConfig(t.Context(), s.call("t1"), named); err != nil {
			t.Errorf("its owner: %v", err)
		}
	})
}

func TestConfigsOfAnotherCallerUnderATaskOfTheSameNameAreNotThere(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		others := store.Callback{CallbackKey: store.CallbackKey{Owner: pushOwner, Task: "t1"}, Peer: "agent://local/other",
			Config: []byte(`{"url":"https://other.example/"}`), Done: true}
		for n := range maxTaskPushes {
			others.ID = fmt.Sprintf("other-%d", n)
			if err := s.records.PutCallback(t.Context(), others); err != nil {
				t.Fatal(err)
			}
		}
		named := &wire.PushConfigRequest{TaskID: "t1", ID: others.ID}
		_, err := s.GetPushConfig(t.Context(), s.call("t1"), named)
		wantWire(t, err, wire.TaskNotFound, "")
		if err := s.DeletePushConfig(t.Context(), s.call("t1"), named); err != nil {
			t.Error(err)
		}
		_, err = s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", ID: others.ID, URL: "https://a.example/"})
		wantWire(t, err, wire.InvalidParams, "id")
		if kept := s.callback("t1", others.ID); !reflect.DeepEqual(kept.Config, others.Config) {
			t.Errorf("the other caller's config is %s", kept.Config)
		}
		id := s.set("t1", "https://a.example/")
		list, err := s.ListPushConfigs(t.Context(), s.call("t1"), &wire.ListPushConfigsRequest{TaskID: "t1"})
		if err != nil || len(list.Configs) != 1 || list.Configs[0].ID != id {
			t.Errorf("listed %+v, %v", list, err)
		}
	})
}

func TestAPushConfigThatIsNotThereIsNotFoundAndDeletingItIsNoFault(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		none := &wire.PushConfigRequest{TaskID: "t1", ID: "none"}
		_, err := s.GetPushConfig(t.Context(), s.call("t1"), none)
		wantWire(t, err, wire.TaskNotFound, "")
		if err := s.DeletePushConfig(t.Context(), s.call("t1"), none); err != nil {
			t.Error(err)
		}
		list, err := s.ListPushConfigs(t.Context(), s.call("t1"), &wire.ListPushConfigsRequest{TaskID: "t1"})
		if err != nil || list.Configs == nil || len(list.Configs) != 0 {
			t.Errorf("listed %+v, %v, want a list with nothing in it", list, err)
		}
	})
}

func TestPushConfigsAreListedAPageAtATime(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		var want []string
		for range 5 {
			want = append(want, s.set("t1", "https://a.example/"))
		}
		slices.Sort(want)
		for size := range 7 {
			var got []string
			r := &wire.ListPushConfigsRequest{TaskID: "t1", PageSize: size}
			for {
				page, err := s.ListPushConfigs(t.Context(), s.call("t1"), r)
				if err != nil {
					t.Fatal(err)
				}
				if size > 0 && len(page.Configs) > size {
					t.Errorf("a page of at most %d has %d", size, len(page.Configs))
				}
				for _, c := range page.Configs {
					got = append(got, c.ID)
				}
				if r.PageToken = page.NextPageToken; r.PageToken == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("with pages of %d: %v, want %v", size, got, want)
			}
		}
		_, err := s.ListPushConfigs(t.Context(), s.call("t1"), &wire.ListPushConfigsRequest{TaskID: "t1", PageSize: -1})
		wantWire(t, err, wire.InvalidParams, "pageSize")
		_, err = s.ListPushConfigs(t.Context(), s.call("t1"), &wire.ListPushConfigsRequest{TaskID: "t1", PageToken: "?"})
		wantWire(t, err, wire.InvalidParams, "pageToken")
	})
}

func TestATaskHasRoomForSoManyPushConfigs(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		s.open("t2", pushPeer)
		var id string
		for range maxTaskPushes {
			id = s.set("t1", "https://a.example/")
		}
		_, err := s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", URL: "https://a.example/"})
		wantWire(t, err, wire.Overloaded, "")
		if _, err = s.CreatePushConfig(t.Context(), s.call("t1"), &wire.PushConfig{TaskID: "t1", ID: id, URL: "https://b.example/"}); err != nil {
			t.Errorf("replacing one: %v", err)
		}
		s.set("t2", "https://a.example/")
		if err := s.DeletePushConfig(t.Context(), s.call("t1"), &wire.PushConfigRequest{TaskID: "t1", ID: id}); err != nil {
			t.Fatal(err)
		}
		s.set("t1", "https://a.example/")
	})
}

func TestACallerHasRoomForSoManyPushConfigsThatWait(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		if s.perCaller != maxCallerPushes {
			t.Errorf("a caller may have %d, want %d", s.perCaller, maxCallerPushes)
		}
		s.perCaller = 20
		var last *stagedTask
		for n := range s.perCaller {
			name := fmt.Sprintf("t%d", n)
			last = s.open(name, pushPeer)
			s.set(name, "https://a.example/")
		}
		s.open("more", pushPeer)
		_, err := s.CreatePushConfig(t.Context(), s.call("more"), &wire.PushConfig{TaskID: "more", URL: "https://a.example/"})
		wantWire(t, err, wire.Overloaded, "")
		s.open("other's", "agent://local/other")
		s.set("other's", "https://a.example/")
		last.move(wire.Completed)
		synctest.Wait()
		s.set("more", "https://a.example/")
	})
}

func TestAPushConfigThatComesWithAMessageIsSetUpOnceHoweverOftenItComes(t *testing.T) {
	inPushBubble(t, func(t *testing.T, s *pushStage) {
		s.open("t1", pushPeer)
		x, err := s.find(t.Context(), s.call("t1"), "t1")
		if err != nil {
			t.Fatal(err)
		}
		call := s.call("t1")
		call.Extensions = []string{ExtensionURI}
		for _, r := range []*wire.PushConfig{nil, {URL: "https://a.example/"}, {URL: "https://a.example/"}, {ID: "own", URL: "https://b.example/"}} {
			if err := errors.Join(s.checkPush(&wire.Message{}, r), s.adoptPush(t.Context(), call, x, r)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		kept, err := s.records.Callbacks(t.Context(), pushOwner, "t1")
		if err != nil || len(kept) != 2 || kept[0].ID != "own" && kept[1].ID != "own" {
			t.Errorf("kept %v, %v", kept, err)
		}
		for _, c := range kept {
			if hook, err := webhookOf(c); err != nil || !hook.Parley || c.Peer != pushPeer {
				t.Errorf("kept %+v, %v", hook, err)
			}
		}
		s.wantAt("a.example", "a task SUBMITTED")
		s.wantAt("b.example", "a task SUBMITTED")
	})
}

func TestAPushConfigThatComesWithAMessageIsJudgedBeforeTheMessageIsTaken(t *testing.T) {
	p := newPusher(nil, nil, false, nil).serve(pushOwner, nil, nil)
	const in = "configuration.taskPushNotificationConfig."
	wantWire(t, p.checkPush(&wire.Message{}, &wire.PushConfig{URL: "http://a.example/"}), wire.InvalidParams, in+"url")
	wantWire(t, p.checkPush(&wire.Message{TaskID: "t1"}, &wire.PushConfig{TaskID: "t2", URL: "https://a.example/"}), wire.InvalidParams, in+"taskId")
	if err := p.checkPush(&wire.Message{TaskID: "t1"}, &wire.PushConfig{TaskID: "t1", URL: "https://a.example/"}); err != nil {
		t.Error(err)
	}
}

func TestAConfigThatCannotBeReadIsSaidWithoutItsContent(t *testing.T) {
	_, err := webhookOf(store.Callback{CallbackKey: store.CallbackKey{Task: "t1", ID: "c"}, Config: []byte(`{"token":secret`)})
	if err == nil || strings.Contains(err.Error(), "s"+"ecret") {
		t.Errorf("the fault is %v", err)
	}
}

func FuzzAURLThatIsTakenCanBeCalled(f *testing.F) {
	for _, seed := range []string{"https://hooks.example/a?b#c", "http://a@b:1/", "https://[::ffff:169.254.169.254]/", "https://[fe80::1%25eth0]/", "//a", "https://a:b", "https://%41/"} {
		f.Add(seed)
	}
	rules := pushRules{targets: newTargets(false)}
	f.Fuzz(func(t *testing.T, raw string) {
		if rules.checkURL(raw) != nil {
			return
		}
		r, err := http.NewRequest(http.MethodPost, raw, nil)
		if err != nil {
			t.Fatalf("%q was taken: %v", raw, err)
		}
		if u := r.URL; u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			t.Errorf("%q was taken as %+v", raw, u)
		}
		if addr, err := netip.ParseAddr(r.URL.Hostname()); err == nil && rules.targets.check(addr) != nil {
			t.Errorf("%q was taken, at %s", raw, addr)
		}
	})
}
