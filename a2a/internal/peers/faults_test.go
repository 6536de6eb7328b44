package peers

// faults are the scenarios that a client cannot play, whatever the server does,
// and why. One that goes well all the same is a failure of this table.
func faults() map[string]string {
	const (
		unheard = "its client of JSON-RPC looks for an error in the events of a stream only, and not in an answer that is no stream (section 9.4)"
		bare    = "its client wants a bare array of configurations, and not the object of the protocol that has them (section 3.1.9)"
	)
	return map[string]string{
		"SubscribeToTask/that is finished/a2a-go JSONRPC":        unheard,
		"SubscribeToTask/that is not there/a2a-go JSONRPC":       unheard,
		"ListTaskPushNotificationConfigs/plain/a2a-go JSONRPC":   bare,
		"ListTaskPushNotificationConfigs/plain/a2a-go HTTP+JSON": bare,
	}
}
