package guard_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/parley-agents/parley/guard"
)

// key is the n-th key of the tests.
func key(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func claims() guard.Claims {
	return guard.Claims{Sender: planner, Receiver: flights, Tenant: "acme", Scopes: []string{"book"}, Expires: noon.Add(5 * time.Minute)}
}

func mint(t testing.TB, k ed25519.PrivateKey, c guard.Claims) string {
	t.Helper()
	token, err := guard.Mint(k, c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestATokenSaysWhatWasMinted(t *testing.T) {
	got, err := guard.Verify(mint(t, key(1), claims()), public(key(1)), flights, noon)
	got.Expires = got.Expires.UTC()
	if err != nil || !reflect.DeepEqual(got, claims()) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestATokenHoldsUntilItsEndAndTheSkew(t *testing.T) {
	token, end := mint(t, key(1), claims()), noon.Add(5*time.Minute)
	if _, err := guard.Verify(token, public(key(1)), flights, end.Add(guard.Skew)); err != nil {
		t.Error(err)
	}
	if _, err := guard.Verify(token, public(key(1)), flights, end.Add(guard.Skew+1)); err == nil {
		t.Error("an expired token was taken")
	}
}

func TestATokenThatDoesNotFitIsRefused(t *testing.T) {
	change := func(f func(*guard.Claims)) string {
		c := claims()
		f(&c)
		return mint(t, key(1), c)
	}
	good := mint(t, key(1), claims())
	for name, c := range map[string]struct {
		token, receiver, want string
		key                   ed25519.PublicKey
	}{
		"another sender's key": {good, flights, "another key", public(key(2))},
		"no key known":         {good, flights, "another key", nil},
		"for another receiver": {good, hotels, "another receiver", public(key(1))},
		"of a foreign tenant":  {change(func(c *guard.Claims) { c.Tenant = "globex" }), flights, "tenant", public(key(1))},
		"of no tenant":         {change(func(c *guard.Claims) { c.Tenant = "" }), flights, "tenant", public(key(1))},
		"of no sender":         {change(func(c *guard.Claims) { c.Sender = "" }), flights, "no single sender", public(key(1))},
		"of a sender that is no URI, without tenant": {change(func(c *guard.Claims) { c.Sender, c.Tenant = "planner", "" }), flights, "tenant", public(key(1))},
		"signed by the key in its own header":        {mint(t, key(2), claims()), flights, "another key", public(key(1))},
		"nothing":                                    {"", flights, "not readable", public(key(1))},
		"words":                                      {"let me in", flights, "not readable", public(key(1))},
		"cut":                                        {good[:len(good)-4], flights, "token", public(key(1))},
		"unsigned":                                   {good[:strings.LastIndexByte(good, '.')+1], flights, "token", public(key(1))},
	} {
		got, err := guard.Verify(c.token, c.key, c.receiver, noon)
		if err == nil || !strings.Contains(err.Error(), c.want) || !reflect.DeepEqual(got, guard.Claims{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// forge signs the payload as the options say, with the victim's public key in
// the header.
func forge(t testing.TB, alg jose.SignatureAlgorithm, with any, header map[jose.HeaderKey]any, payload any) string {
	t.Helper()
	options := &jose.SignerOptions{}
	for k, v := range header {
		options.WithHeader(k, v)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: with}, options)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(data)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestForgedTokensAreRefused(t *testing.T) {
	good := mint(t, key(1), claims())
	parts := strings.Split(good, ".")
	jwk := jose.JSONWebKey{Key: public(key(1))}
	payload := map[string]any{"iss": planner, "sub": planner, "aud": flights, "tenant": "acme", "exp": noon.Add(time.Minute).Unix()}
	with := func(name string, value any) map[string]any {
		changed := map[string]any{}
		for k, v := range payload {
			changed[k] = v
		}
		changed[name] = value
		return changed
	}
	encode := base64.RawURLEncoding.EncodeToString
	head := map[jose.HeaderKey]any{"jwk": jwk}
	if _, err := guard.Verify(forge(t, jose.EdDSA, key(1), head, payload), public(key(1)), flights, noon); err != nil {
		t.Fatalf("the honest one: %v", err)
	}
	header, err := json.Marshal(map[string]any{"alg": "none", "jwk": jwk})
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"alg none":                       encode(header) + "." + parts[1] + ".",
		"alg none with a signature":      encode(header) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key":      forge(t, jose.HS256, []byte(public(key(1))), head, payload),
		"another payload":                parts[0] + "." + encode([]byte(`{"iss":"agent://acme/planner","sub":"agent://acme/planner"}`)) + "." + parts[2],
		"another key, the victim's head": forge(t, jose.EdDSA, key(2), head, payload),
		"no key in the header":           forge(t, jose.EdDSA, key(1), nil, payload),
		"iss is not sub":                 forge(t, jose.EdDSA, key(1), head, with("sub", hotels)),
		"no expiry":                      forge(t, jose.EdDSA, key(1), head, with("exp", nil)),
		"no audience":                    forge(t, jose.EdDSA, key(1), head, with("aud", nil)),
		"a tenant that is no text":       forge(t, jose.EdDSA, key(1), head, with("tenant", 7)),
		"a payload that is no object":    forge(t, jose.EdDSA, key(1), head, []int{1}),
	} {
		if got, err := guard.Verify(token, public(key(1)), flights, noon); err == nil {
			t.Errorf("%s: taken as %+v", name, got)
		}
	}
}

func TestATokenThatIsTooLongIsNotRead(t *testing.T) {
	c := claims()
	c.Scopes = []string{strings.Repeat("x", 4<<10)}
	long := mint(t, key(1), c)
	if _, err := guard.Verify(long, public(key(1)), flights, noon); err == nil {
		t.Error("it was believed")
	}
	if _, _, err := guard.Peek(long); err == nil {
		t.Error("it was read")
	}
}

func TestOneChangedCharacterSpoilsAToken(t *testing.T) {
	good := mint(t, key(1), claims())
	for i := range good {
		spoiled := []byte(good)
		if spoiled[i] = 'A'; good[i] == 'A' {
			spoiled[i] = 'g' // differs from A in the highest bit of its six
		}
		if _, err := guard.Verify(string(spoiled), public(key(1)), flights, noon); err == nil {
			t.Errorf("character %d: %s", i, spoiled)
		}
	}
}

func TestAKeyThatIsNoneMakesNoToken(t *testing.T) {
	if token, err := guard.Mint(nil, claims()); err == nil {
		t.Error(token)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(mint(f, key(1), claims()))
	f.Add("")
	f.Add("a.b.c")
	f.Add(`{"payload":"e30","signatures":[]}`)
	honest := mint(f, key(1), claims())
	f.Fuzz(func(t *testing.T, token string) {
		got, err := guard.Verify(token, public(key(1)), flights, noon)
		if err == nil && token != honest && got.Sender != planner {
			t.Errorf("%q: taken as %+v", token, got)
		}
		if _, err := guard.Verify(token, public(key(2)), flights, noon); err == nil {
			t.Errorf("%q: taken under a key that signed nothing", token)
		}
		if _, err := guard.Verify(token, nil, flights, noon); err == nil {
			t.Errorf("%q: taken without a key", token)
		}
	})
}
