package wire

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func edKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func ecKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func trust(key crypto.PublicKey) func(SignatureHint) crypto.PublicKey {
	return func(SignatureHint) crypto.PublicKey { return key }
}

func someCard() AgentCard {
	return AgentCard{Name: "clerk", SupportedInterfaces: []AgentInterface{{URL: "https://a.example/", ProtocolBinding: JSONRPC, ProtocolVersion: Version}},
		Capabilities: Capabilities{Streaming: true, Extensions: []AgentExtension{{URI: "u", Params: Metadata{"n": json.RawMessage(`null`)}}}}}
}

func TestASignedCardVerifiesByItsKeyOnly(t *testing.T) {
	ec := ecKey(t, elliptic.P256())
	for name, tt := range map[string]struct {
		key   crypto.Signer
		other crypto.PublicKey
		alg   string
	}{
		"Ed25519": {edKey(1), edKey(2).Public(), "EdDSA"},
		"ES256":   {ec, ecKey(t, elliptic.P256()).Public(), "ES256"},
	} {
		card := someCard()
		if err := SignCard(&card, tt.key, "key-1"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := Encode(&card)
		hint, err := VerifyCard(text, trust(tt.key.Public()))
		if want := (SignatureHint{Algorithm: tt.alg, KeyID: "key-1"}); err != nil || hint != want {
			t.Errorf("%s: got %+v, %v", name, hint, err)
		}
		for what, key := range map[string]crypto.PublicKey{"another key": tt.other, "no key": nil, "a key of another kind": "key",
			"a shared secret": []byte("secret")} {
			if _, err := VerifyCard(text, trust(key)); !errors.Is(err, ErrSignature) {
				t.Errorf("%s, %s: got %v", name, what, err)
			}
		}
	}
}

func TestTheProtectedHeaderSaysAlgorithmKeyAndType(t *testing.T) {
	card := someCard()
	if err := SignCard(&card, edKey(1), "key-1"); err != nil {
		t.Fatal(err)
	}
	header, err := base64.RawURLEncoding.DecodeString(card.Signatures[0].Protected)
	if want := `{"alg":"EdDSA","kid":"key-1","typ":"JOSE"}`; err != nil || string(header) != want {
		t.Errorf("got %s (%v), want %s", header, err, want)
	}
}

func TestAKeyThatCannotSignACardIsRefused(t *testing.T) {
	for name, key := range map[string]crypto.Signer{"P-384": ecKey(t, elliptic.P384()), "none": nil} {
		card := someCard()
		if err := SignCard(&card, key, "k"); err == nil || card.Signatures != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	card := someCard()
	card.Capabilities.Extensions[0].Params["n"] = json.RawMessage(`9007199254740993`)
	if err := SignCard(&card, edKey(1), "k"); err == nil {
		t.Error("a number without canonical form was signed")
	}
}

// signText signs a payload as any other library would, and puts the signature
// into the card's text.
func signText(t *testing.T, card, payload, header string) string {
	t.Helper()
	protected := base64.RawURLEncoding.EncodeToString([]byte(header))
	input := protected + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	signature := base64.RawURLEncoding.EncodeToString(ed25519.Sign(edKey(1), []byte(input)))
	return strings.TrimSuffix(card, "}") + `,"signatures":[{"protected":"` + protected + `","signature":"` + signature + `"}]}`
}

const joseHeader = `{"alg":"EdDSA","typ":"JOSE","kid":"k","jku":"https://a.example/jwks.json"}`

func TestACardOfAnotherLibraryVerifiesOverWhatItSays(t *testing.T) {
	const interfaces = `"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"u"`
	const min = `"name":"a",` + interfaces
	for _, tt := range []struct{ name, card, payload string }{
		{"nothing to drop", `{` + min + `}]}`, `{` + min + `}]}`},
		{"another order and white space", `{ "supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC", "protocolVersion":"1.0"}],
			"name":"\u0061"}`, `{` + min + `}]}`},
		{"defaults", `{` + min + `,"tenant":""}],"securitySchemes":{},"securityRequirements":[],"provider":null}`, `{` + min + `}]}`},
		{"required ones stay", `{"capabilities":{},"defaultInputModes":[],"description":"",` + min + `}],"skills":[],"version":""}`,
			`{"capabilities":{},"defaultInputModes":[],"description":"","name":"a","skills":[],` + interfaces + `}],"version":""}`},
		{"required ones of an interface stay", `{"name":"a","supportedInterfaces":[{"protocolBinding":"b","protocolVersion":"","url":"u"}]}`,
			`{"name":"a","supportedInterfaces":[{"protocolBinding":"b","protocolVersion":"","url":"u"}]}`},
		{"optional ones stay", `{"capabilities":{"streaming":false},"documentationUrl":"",` + min + `}]}`,
			`{"capabilities":{"streaming":false},"documentationUrl":"",` + min + `}]}`},
		{"unknown ones stay", `{"Later":{"b":[],"a":null},` + min + `,"x":""}]}`, `{"Later":{"a":null,"b":[]},` + min + `,"x":""}]}`},
		{"structs stay", `{"capabilities":{"extensions":[{"uri":"","description":"","required":false,"params":{"b":null,"a":[],"c":""}}]},` + min + `}]}`,
			`{"capabilities":{"extensions":[{"params":{"a":[],"b":null,"c":""}}]},` + min + `}]}`},
		{"schemes and scopes", `{` + min + `}],"securityRequirements":[{"schemes":{"s":{"list":[]}}},{"schemes":{}}],"securitySchemes":{"s":{"oauth2SecurityScheme":{"description":"",
			"flows":{"clientCredentials":{"refreshUrl":"","scopes":{},"tokenUrl":""},"authorizationCode":{"pkceRequired":false,"authorizationUrl":""}}}},"k":{"mtlsSecurityScheme":{"description":""}}}}`,
			`{"name":"a","securityRequirements":[{"schemes":{"s":{}}},{}],"securitySchemes":{"k":{"mtlsSecurityScheme":{}},"s":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"authorizationUrl":""},"clientCredentials":{"scopes":{},"tokenUrl":""}}}}},` + interfaces + `}]}`},
		{"skills", `{` + min + `}],"skills":[{"id":"","tags":[],"examples":[],"inputModes":[],"securityRequirements":[{"schemes":{"s":{"list":["x"]}}}]}]}`,
			`{"name":"a","skills":[{"id":"","securityRequirements":[{"schemes":{"s":{"list":["x"]}}}],"tags":[]}],` + interfaces + `}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hint, err := VerifyCard([]byte(signText(t, tt.card, tt.payload, joseHeader)), trust(edKey(1).Public()))
			if want := (SignatureHint{"EdDSA", "k", "https://a.example/jwks.json"}); err != nil || hint != want {
				payload, _ := signedBytes([]byte(tt.card))
				t.Errorf("got %+v, %v\npayload %s\nwant    %s", hint, err, payload, tt.payload)
			}
		})
	}
}

func TestTheSpecificationsCanonicalFragmentIsOurs(t *testing.T) {
	got, err := signedBytes([]byte(`{"name": "Example Agent", "description": "",
		"capabilities": {"streaming": false, "pushNotifications": false, "extensions": []}, "skills": []}`))
	want := `{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}`
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestAChangedCardDoesNotVerify(t *testing.T) {
	card := someCard()
	if err := SignCard(&card, edKey(1), "k"); err != nil {
		t.Fatal(err)
	}
	text := string(Encode(&card))
	for _, change := range []struct{ old, new string }{
		{`"clerk"`, `"clerk2"`}, {`https://a.example/`, `https://b.example/`}, {`"streaming":true`, `"streaming":false`}, {`"streaming":true,`, ``},
		{`{"n":null}`, `{}`}, {`"name":`, `"other":1,"name":`}, {`"skills":[]`, `"skills":[{"id":"x"}]`}, {`"skills":[],`, ``},
	} {
		changed := strings.Replace(text, change.old, change.new, 1)
		if changed == text {
			t.Fatalf("%s is not in %s", change.old, text)
		}
		if _, err := VerifyCard([]byte(changed), trust(edKey(1).Public())); !errors.Is(err, ErrSignature) {
			t.Errorf("%s became %s: got %v", change.old, change.new, err)
		}
	}
}

func TestASignatureThatIsNotACardsIsRefused(t *testing.T) {
	const card = `{"name":"a","supportedInterfaces":[{"protocolBinding":"JSONRPC","url":"u"}]}`
	for name, header := range map[string]string{
		"a token's type":       `{"alg":"EdDSA","typ":"JWT"}`,
		"a type that is none":  `{"alg":"EdDSA","typ":1}`,
		"no algorithm":         `{"typ":"JOSE"}`,
		"the algorithm none":   `{"alg":"none"}`,
		"a shared secret":      `{"alg":"HS256"}`,
		"another algorithm":    `{"alg":"ES256"}`,
		"an unknown extension": `{"alg":"EdDSA","crit":["x"],"x":1}`,
		"an algorithm twice":   `{"alg":"EdDSA","alg":"EdDSA"}`,
		"no object":            `[]`,
		"no JSON":              `x`,
	} {
		for _, key := range []any{edKey(1).Public(), []byte(edKey(1).Public().(ed25519.PublicKey))} {
			if hint, err := VerifyCard([]byte(signText(t, card, card, header)), trust(key)); !errors.Is(err, ErrSignature) {
				t.Errorf("%s: got %+v, %v", name, hint, err)
			}
		}
	}
	if _, err := VerifyCard([]byte(card), trust(edKey(1).Public())); !errors.Is(err, ErrUnsigned) {
		t.Errorf("unsigned: got %v", err)
	}
	twice := strings.Replace(signText(t, card, card, joseHeader), `"name":"a"`, `"name":"a","name":"a"`, 1)
	if _, err := VerifyCard([]byte(twice), trust(edKey(1).Public())); err == nil || errors.Is(err, ErrSignature) {
		t.Errorf("a name twice: got %v", err)
	}
}

func TestOneKnownKeyAmongSeveralIsEnough(t *testing.T) {
	card := someCard()
	for i, id := range []string{"old", "new"} {
		if err := SignCard(&card, edKey(byte(i+1)), id); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	hint, err := VerifyCard(Encode(&card), func(h SignatureHint) crypto.PublicKey {
		asked = append(asked, h.KeyID)
		if h.KeyID == "new" {
			return edKey(2).Public()
		}
		return nil
	})
	if err != nil || hint.KeyID != "new" || len(asked) != 2 {
		t.Errorf("got %+v, %v, asked for %v", hint, err, asked)
	}
	for range maxSignatures {
		card.Signatures = append([]CardSignature{{Protected: card.Signatures[0].Protected, Signature: "AA"}}, card.Signatures...)
	}
	if _, err := VerifyCard(Encode(&card), trust(edKey(1).Public())); !errors.Is(err, ErrSignature) {
		t.Errorf("behind too many: got %v", err)
	}
}

// The sample card of section 8.5 has no published key; what is signed of it is
// what gowebpki/jcs makes of it without its signatures.
func TestTheSpecificationsCardHasTheCanonicalFormOfAnotherLibrary(t *testing.T) {
	text, err := os.ReadFile("testdata/card.json")
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "signatures")
	bare, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	want, err := jcs.Transform(bare)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := signedBytes(text); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x (%v), want %x\n%s", sha256.Sum256(got), err, sha256.Sum256(want), got)
	}
}

func TestEveryCardThatIsSignedVerifiesByAnotherLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringMatching(`[a-zé"\\]{0,5}`)
		card := someCard()
		card.Description, card.Version, card.SupportedInterfaces[0].Tenant = plain.Draw(t, "d"), plain.Draw(t, "v"), plain.Draw(t, "t")
		card.Capabilities.Extensions[0].Params[plain.Draw(t, "k")] = json.RawMessage(rapid.SampledFrom([]string{`1.50`, `{"b":1,"a":[]}`, `null`}).Draw(t, "p"))
		card.Skills = []Skill{{ID: plain.Draw(t, "id"), Tags: []string{plain.Draw(t, "tag")}, Examples: optionally(rapid.SliceOf(plain)).Draw(t, "e")}}
		card.SecurityRequirements = several(t, func(t *rapid.T) SecurityRequirement { return SecurityRequirement{plain.Draw(t, "s"): nil} })
		if err := SignCard(&card, edKey(1), "k"); err != nil {
			t.Fatal(err)
		}
		s := card.Signatures[0]
		if _, err := VerifyCard(Encode(&card), trust(edKey(1).Public())); err != nil {
			t.Fatal(err)
		}
		card.Signatures = nil
		payload, err := jcs.Transform(cardShape().prune(nil, Encode(&card)))
		if err != nil {
			t.Fatal(err)
		}
		signed, err := jose.ParseDetached(s.Protected+".."+s.Signature, payload, []jose.SignatureAlgorithm{jose.EdDSA})
		if err != nil {
			t.Fatal(err)
		}
		if err := signed.DetachedVerify(payload, edKey(1).Public()); err != nil {
			t.Fatal(err)
		}
	})
}
