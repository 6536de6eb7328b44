package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// diagnosed runs doctor and returns the status of each code.
func diagnosed(t *testing.T, args ...string) (map[string]string, result) {
	t.Helper()
	got := runCommand(t, "", append([]string{"doctor", "-o", "json"}, args...)...)
	var out struct{ Findings []finding }
	if err := json.Unmarshal([]byte(got.stdout), &out); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	status := map[string]string{}
	for _, f := range out.Findings {
		status[f.Code] = f.Status
		if f.Text == "" || f.Status != statusOK && f.Hint == "" {
			t.Errorf("%+v says too little", f)
		}
	}
	return status, got
}

func TestDoctorFindsWhatIsWrongWithAStore(t *testing.T) {
	withoutModel(t)
	for name, c := range map[string]struct {
		damage       func(t *testing.T, path string) string
		code, status string
		exit         int
	}{
		"nothing": {func(_ *testing.T, path string) string { return path }, "store.file", statusOK, exitOK},
		"it is not there yet": {func(_ *testing.T, path string) string { return path + ".new" },
			"store.file", statusWarn, exitOK},
		"its folder is not there": {func(_ *testing.T, path string) string { return filepath.Join(path+".d", "x.db") },
			"store.durable", statusFail, exitFailed},
		"it is a folder": {func(_ *testing.T, path string) string { return filepath.Dir(path) }, "store.file", statusFail, exitFailed},
		"it is another file": {func(t *testing.T, path string) string {
			must(t, os.WriteFile(path+".txt", make([]byte, 4096), 0o600))
			return path + ".txt"
		}, "store.file", statusFail, exitFailed},
		"a newer program wrote it": {func(t *testing.T, path string) string {
			execute(t, path, "PRAGMA user_version = 999")
			must(t, os.Chtimes(path, time.Time{}, noon.Add(-time.Hour)))
			return path
		}, "store.schema", statusFail, exitFailed},
		"others can read it": {func(t *testing.T, path string) string {
			must(t, os.Chmod(path, 0o644))
			return path
		}, "store.permissions", statusWarn, exitOK},
		"others can write it": {func(t *testing.T, path string) string {
			must(t, os.Chmod(path, 0o666))
			return path
		}, "store.permissions", statusFail, exitFailed},
		"it was written later than now": {func(t *testing.T, path string) string {
			must(t, os.Chtimes(path, time.Time{}, noon.Add(time.Minute)))
			return path
		}, "clock", statusFail, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			path := filledStore(t)
			path = c.damage(t, path)
			status, got := diagnosed(t, "--db", path)
			if status[c.code] != c.status || got.code != c.exit {
				t.Errorf("%s is %s with exit code %d, want %s with %d: %s", c.code, status[c.code], got.code, c.status, c.exit, got.stdout)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".parley-doctor-*")); err != nil || len(left) > 0 {
				t.Errorf("left %v (%v)", left, err)
			}
		})
	}
}

func TestDoctorWarnsAboutAFileWithoutAWriteAheadLog(t *testing.T) {
	for mode, status := range map[string]string{"wal": statusOK, "delete": statusWarn} {
		if f := journal(mode); f.Status != status {
			t.Errorf("%s: %+v", mode, f)
		}
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := openSQLite(path)
	must(t, err)
	_, err = db.Exec(statement)
	must(t, err)
	must(t, db.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDoctorReadsTheModelsSettings(t *testing.T) {
	path := filledStore(t)
	for _, c := range []struct {
		base, key, status string
		exit              int
	}{
		{"", "", statusOK, exitOK},
		{"", "k", statusOK, exitOK},
		{"http://127.0.0.1:1/v1", "k", statusOK, exitOK},
		{"https://models.example/v1", "k", statusOK, exitOK},
		{"http://models.example/v1", "", statusOK, exitOK},
		{"http://models.example/v1", "k", statusWarn, exitOK},
		{"models.example", "k", statusFail, exitFailed},
		{"ftp://models.example", "", statusFail, exitFailed},
	} {
		withoutModel(t)
		t.Setenv("OPENAI_BASE_URL", c.base)
		t.Setenv("OPENAI_API_KEY", c.key)
		status, got := diagnosed(t, "--db", path)
		if status["model.settings"] != c.status || got.code != c.exit {
			t.Errorf("%+v: %s with exit code %d", c, status["model.settings"], got.code)
		}
		if _, called := status["model.answer"]; called {
			t.Errorf("%+v: a call was made", c)
		}
	}
}

func TestDoctorCallsTheModelOnlyWhenAsked(t *testing.T) {
	path := filledStore(t)
	withoutModel(t)
	if status, got := diagnosed(t, "--db", path, "--model"); status["model.answer"] != statusOK || got.code != exitOK {
		t.Errorf("rehearsed: %+v", got)
	}
	var calls, answer atomic.Int32
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(answer.Load()))
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`))
	}))
	defer endpoint.Close()
	t.Setenv("OPENAI_BASE_URL", endpoint.URL)
	if _, got := diagnosed(t, "--db", path); got.code != exitOK || calls.Load() != 0 {
		t.Errorf("%d calls were made: %+v", calls.Load(), got)
	}
	for code, want := range map[int32]string{http.StatusOK: statusOK, http.StatusUnauthorized: statusFail} {
		answer.Store(code)
		if status, got := diagnosed(t, "--db", path, "--model"); status["model.answer"] != want {
			t.Errorf("answer %d: %+v", code, got)
		}
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls", calls.Load())
	}
}
