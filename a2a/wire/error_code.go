package wire

import "net/http"

// status is what one kind of error is on the wire (section 5.4).
type status struct {
	kind Kind
	code int    // JSON-RPC
	http int    // HTTP+JSON
	grpc string // the status that an HTTP+JSON body names
}

// statuses follow version 1.0.1. The codes of the last four are not the
// protocol's: it leaves them to the server, outside of its own range.
var statuses = []status{
	{TaskNotFound, -32001, http.StatusNotFound, "NOT_FOUND"},
	{TaskNotCancelable, -32002, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{PushNotificationNotSupported, -32003, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{UnsupportedOperation, -32004, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{ContentTypeNotSupported, -32005, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{InvalidAgentResponse, -32006, http.StatusInternalServerError, "INTERNAL"},
	{ExtendedCardNotConfigured, -32007, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{ExtensionSupportRequired, -32008, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{VersionNotSupported, -32009, http.StatusBadRequest, "FAILED_PRECONDITION"},
	{ParseError, -32700, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{InvalidRequest, -32600, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{MethodNotFound, -32601, http.StatusNotFound, "NOT_FOUND"},
	{InvalidParams, -32602, http.StatusBadRequest, "INVALID_ARGUMENT"},
	{Internal, -32603, http.StatusInternalServerError, "INTERNAL"},
	{Unauthenticated, -31401, http.StatusUnauthorized, "UNAUTHENTICATED"},
	{PermissionDenied, -31403, http.StatusForbidden, "PERMISSION_DENIED"},
	{Overloaded, -31429, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"},
	{Unavailable, -31503, http.StatusServiceUnavailable, "UNAVAILABLE"},
}

func (k Kind) status() (status, bool) {
	for _, s := range statuses {
		if s.kind == k {
			return s, true
		}
	}
	return status{Internal, -32603, http.StatusInternalServerError, "INTERNAL"}, false
}

// Code is the kind's JSON-RPC error code.
func (k Kind) Code() int {
	s, _ := k.status()
	return s.code
}

// HTTPStatus is the status of an HTTP+JSON answer with an error of this kind.
func (k Kind) HTTPStatus() int {
	s, _ := k.status()
	return s.http
}

// RPCStatus is the HTTP status of a JSON-RPC answer with an error of this kind:
// 200, but for what concerns HTTP itself: 401, 403, 429 and 503.
func (k Kind) RPCStatus() int {
	switch k {
	case Unauthenticated, PermissionDenied, Overloaded, Unavailable:
		return k.HTTPStatus()
	}
	return http.StatusOK
}

func kindOfCode(code int) (Kind, bool) {
	for _, s := range statuses {
		if s.code == code {
			return s.kind, true
		}
	}
	return Internal, false
}

// kindOfStatus is what an HTTP status says by itself, when the body says
// nothing better. A bare 404 is no TaskNotFound: whoever answered may know
// nothing of tasks.
func kindOfStatus(code int) Kind {
	switch code {
	case http.StatusUnauthorized:
		return Unauthenticated
	case http.StatusForbidden:
		return PermissionDenied
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return MethodNotFound
	case http.StatusUnsupportedMediaType:
		return ContentTypeNotSupported
	case http.StatusTooManyRequests:
		return Overloaded
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Unavailable
	}
	switch {
	case code >= 500:
		return Internal
	case code >= 400:
		return InvalidRequest
	}
	return InvalidAgentResponse
}
