package wire

import (
	"fmt"
	"time"
)

// Kind is one of the protocol's errors, by the reason that its ErrorInfo
// carries (section 3.3.2 and 9.5), or one of JSON-RPC's own.
type Kind string

// The kinds of errors.
const (
	TaskNotFound                 Kind = "TASK_NOT_FOUND"
	TaskNotCancelable            Kind = "TASK_NOT_CANCELABLE"
	PushNotificationNotSupported Kind = "PUSH_NOTIFICATION_NOT_SUPPORTED"
	UnsupportedOperation         Kind = "UNSUPPORTED_OPERATION"
	ContentTypeNotSupported      Kind = "CONTENT_TYPE_NOT_SUPPORTED"
	InvalidAgentResponse         Kind = "INVALID_AGENT_RESPONSE"
	ExtendedCardNotConfigured    Kind = "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
	ExtensionSupportRequired     Kind = "EXTENSION_SUPPORT_REQUIRED"
	VersionNotSupported          Kind = "VERSION_NOT_SUPPORTED"

	ParseError     Kind = "PARSE_ERROR"
	InvalidRequest Kind = "INVALID_REQUEST"
	MethodNotFound Kind = "METHOD_NOT_FOUND"
	InvalidParams  Kind = "INVALID_PARAMS"
	Internal       Kind = "INTERNAL"

	// Unauthenticated and PermissionDenied are HTTP 401 and 403 in both
	// bindings; Overloaded is 429, Unavailable 503.
	Unauthenticated  Kind = "UNAUTHENTICATED"
	PermissionDenied Kind = "PERMISSION_DENIED"
	Overloaded       Kind = "RESOURCE_EXHAUSTED"
	Unavailable      Kind = "UNAVAILABLE"
)

// Error is what a client is told. Its text is for the client: it never carries
// internals.
type Error struct {
	Kind    Kind
	Message string
	// Field is the place of a fault in the request, such as
	// "message.parts[0]", "" if it has none.
	Field string
	// RetryAfter is when it may help to try again, 0 if nothing is known.
	RetryAfter time.Duration
	// Info are further members of the ErrorInfo's metadata.
	Info map[string]string
	// Details are further elements of the error's data, each a JSON object with
	// the member @type.
	Details []Metadata
}

func (e *Error) Error() string {
	if e.Field != "" {
		return fmt.Sprintf("%s: %s: %s", e.Kind, e.Field, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Errorf is an error of the kind with a text for the client.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
