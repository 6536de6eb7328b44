package strictjson

import (
	"errors"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	``, `{}`, `[1,2.50,-0,1e-7]`, `{"a":{"b":[null,true,false]}}`, `{"a":1,"A":2}`, `"\ud83d\ude00\u00e9\\\/"`,
	`{"😀":1,"\uffee":2}`, "\ufeff{}", "\"\xc2\x80\"", `{"__proto__":1}`, `[[[[[[`, `{"a":9007199254740993}`, `1e-308`,
	`5e-324`, `"\ud800"`, `{"ſ":1,"s":2}`, `[1,]`, `{"a":1,}`, `01`, `{"a" 1}`, `nulL`, `"` + "\t" + `"`,
}

func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, anyRoot bool) {
		err := Scan(data, Limits{AnyRoot: anyRoot})
		if err == nil {
			if !utf8.Valid(data) {
				t.Fatal("accepted bytes that are not UTF-8")
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("error is a %T", err)
		}
		if e.Rule == "" || e.Want == "" || e.Offset < 0 || e.Offset > len(data) || len(e.Pointer) > maxPointer {
			t.Fatalf("error says too little or too much: %+v", e)
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
