package llm

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// complaint is what an endpoint says about a failure, whatever the shape.
type complaint struct {
	message, code, kind, param string
	written                    string // what the model wrote, if the endpoint passes it on
}

// readComplaint understands {"error":{…}}, {"error":"…"}, a list of these, and a
// bare object with message or detail. Text of another kind is the message itself.
func readComplaint(body []byte) complaint {
	var root any
	if json.Unmarshal(body, &root) != nil {
		return complaint{message: strings.TrimSpace(strings.ToValidUTF8(string(body), "�"))}
	}
	if many, ok := root.([]any); ok && len(many) > 0 {
		root = many[0]
	}
	said, _ := root.(map[string]any)
	switch inner := said["error"].(type) {
	case string:
		return complaint{message: inner, code: plain(said["code"]), kind: plain(said["type"])}
	case map[string]any:
		said = inner
	}
	c := complaint{
		message: plain(said["message"]),
		code:    plain(said["code"]),
		kind:    plain(said["type"]),
		param:   plain(said["param"]),
		written: plain(said["failed_generation"]),
	}
	if c.message == "" {
		c.message = plain(said["detail"])
	}
	return c
}

// plain returns v as text when it is text, a number or a list of texts.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var parts []string
		for _, part := range v {
			if s, ok := part.(string); ok {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// aboutSchema finds complaints about the mode or the schema rather than about the
// messages: the same question in a simpler mode may succeed.
var aboutSchema = regexp.MustCompile(`(?i)response_format|json_schema|json_object|json mode|\bschemas?\b|` +
	`\btools?\b|tool_choice|\bfunctions\b|additionalproperties|\bgrammar\b`)

// aboutOutput finds the complaint that the model, not the caller, wrote something
// unusable.
var aboutOutput = regexp.MustCompile(`(?i)tool_use_failed|json_validate_failed|output_parse_failed`)

// classify turns the body of a failed call into an Error. Status is the HTTP
// status; a failure inside an answer with status 200 is judged by its own words.
func classify(status int, body []byte, wait time.Duration) *Error {
	c := readComplaint(body)
	e := &Error{Status: status, RetryAfter: wait, Text: clip(c.message, 2000)}
	told := status
	if told < 400 {
		told = c.status()
	}
	switch {
	case told == http.StatusUnauthorized, told == http.StatusForbidden, told == http.StatusPaymentRequired:
		e.Kind = ErrorUnauthorized
	case c.code == "insufficient_quota": // comes as 429, but waiting does not help
		e.Kind = ErrorUnauthorized
	case told == http.StatusTooManyRequests:
		e.Kind = ErrorRateLimit
	case told >= 500, told == http.StatusRequestTimeout, told == http.StatusConflict, told == http.StatusTooEarly:
		e.Kind = ErrorUnavailable
	default:
		e.Kind = c.refusal()
		if e.Kind == ErrorOutputInvalid && c.written != "" {
			e.Text = c.written
		}
	}
	return e
}

// refusal says which kind of error a refused request is.
func (c complaint) refusal() ErrorKind {
	switch words := c.code + " " + c.kind + " " + c.message; {
	case aboutOutput.MatchString(words):
		return ErrorOutputInvalid
	case strings.Contains(words, "context_length") || strings.Contains(words, "context length"):
		return ErrorBadRequest
	case strings.HasPrefix(c.param, "messages"):
		return ErrorBadRequest
	case aboutSchema.MatchString(c.param) || aboutSchema.MatchString(words):
		return ErrorSchemaRefused
	}
	return ErrorBadRequest
}

// status guesses the HTTP status that a complaint should have come with.
func (c complaint) status() int {
	if n, err := strconv.Atoi(c.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	switch words := strings.ToLower(c.code + " " + c.kind); {
	case strings.Contains(words, "rate_limit"), strings.Contains(words, "resource_exhausted"):
		return http.StatusTooManyRequests
	case strings.Contains(words, "auth"), strings.Contains(words, "api_key"), strings.Contains(words, "permission"):
		return http.StatusUnauthorized
	case strings.Contains(words, "invalid"), aboutOutput.MatchString(words):
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}
