package a2a

import "github.com/parley-agents/parley/a2a/wire"

// rpc answers a request of JSON-RPC. Until its id is known the answer has none.
func (v *visit) rpc() {
	v.binding = jsonRPC{&v.asked}
	a, err := v.admit()
	if err != nil {
		v.fail(err)
		return
	}
	body, ok := v.body()
	if !ok {
		return
	}
	r, err := wire.ParseRequest(body)
	v.asked = r.ID
	if wrong := v.version(); wrong != nil {
		err = wrong
	} else if wrong := v.isJSON(); wrong != nil {
		err = wrong
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.operate(a, r.Method, r.Decode)
}
