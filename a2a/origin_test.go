package a2a

import "testing"

func TestAnOriginIsASchemeAHostAndAPortAndThisMachineIsOneHost(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://Hotels.example", "https://hotels.example:443/desk", true},
		{"http://localhost:8080", "http://127.0.0.1:8080/clerk", true},
		{"http://[::1]:8080", "http://127.0.0.1:8080", true},
		{"http://localhost:8080", "http://localhost:8081", false},
		{"http://localhost:8080", "https://127.0.0.1:8080", false},
		{"http://127.0.0.1:8080", "http://127.0.0.2:8080", false},
		{"http://localhost:8080", "http://localhost.example:8080", false},
	} {
		a, err := originOf(c.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := originOf(c.b)
		if err != nil {
			t.Fatal(err)
		}
		if (a == b) != c.same {
			t.Errorf("%s is of %s, %s of %s", c.a, a, c.b, b)
		}
	}
}
