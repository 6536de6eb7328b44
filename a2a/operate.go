package a2a

import (
	"net/http"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

// admit lets a request in: its caller is known, and does not ask too often. Who
// fails to prove who it is counts by its address.
func (v *visit) admit() (Access, error) {
	a, err := v.authenticate(v.r, v.agent.uri)
	a.Tenant = v.place.route.Tenant
	if over := v.charge(a); over != nil {
		return a, over
	}
	return a, err
}

// charge counts a request of the caller, unless it is one too many.
func (v *visit) charge(a Access) error {
	wait, ok := v.quota.take(payer(a, v.r), v.now())
	if ok {
		return nil
	}
	e := wire.Errorf(wire.Overloaded, "the caller asks too often")
	e.RetryAfter = wait
	return e
}

// operate does what an admitted request asks for. decode fills the operation's
// request.
func (v *visit) operate(a Access, m wire.Method, decode func(wire.Object) error) {
	a.Operation = m
	p := v.procedures[m]
	request := p.request()
	c, err := v.prepare(a, p, request, decode)
	if err != nil {
		v.fail(err)
		return
	}
	if len(c.Extensions) > 0 {
		v.w.Header().Set(wire.ExtensionsHeader, wire.FormatExtensions(c.Extensions))
	}
	var o wire.Object
	switch {
	case p.stream != nil:
		v.stream(a, c, p, request)
		return
	case p.do != nil:
		o, err = v.call(a, c, p, request)
	default:
		o, err = v.extended(a)
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.w.send(http.StatusOK, v.binding.mediaType(), v.binding.result(o))
}

// call does an operation that is no stream.
func (v *visit) call(a Access, c wire.Call, p procedure, request wire.Object) (wire.Object, error) {
	release, ok := v.quota.call(payer(a, v.r))
	if !ok {
		e := wire.Errorf(wire.Overloaded, "the caller has too many calls in progress")
		e.RetryAfter = time.Second
		return nil, e
	}
	defer release()
	return p.do(v.r.Context(), v.agent.service, c, request)
}

// prepare checks all that stands between a request and the agent.
func (v *visit) prepare(a Access, p procedure, request wire.Object, decode func(wire.Object) error) (wire.Call, error) {
	if err := v.authorize(v.r.Context(), a); err != nil {
		return wire.Call{}, err
	}
	can, err := v.capabilities()
	if err != nil {
		return wire.Call{}, err
	}
	active, err := activate(v.r, can.Extensions)
	if err != nil {
		return wire.Call{}, err
	}
	if err := decode(request); err != nil {
		return wire.Call{}, err
	}
	if err := p.needs(request, can); err != nil {
		return wire.Call{}, err
	}
	h := v.r.Header
	c := wire.Call{Caller: a.Caller, Loopback: a.Loopback, Extensions: active,
		LastEventID: h.Get(keyLastEvent), Token: h.Get(headerToken)}
	c.Traceparent, c.Tracestate = trace(h)
	return c, nil
}
