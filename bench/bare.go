package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

// newBare reads every request and answers so many bytes: what HTTP itself costs.
func newBare(context.Context, string, string) (*backend, error) {
	size, err := strconv.Atoi(os.Getenv(serveBytes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", serveBytes, err)
	}
	const begin, end = `{"said":"` + completed + `","more":"`, `"}`
	answer := begin + string(bytes.Repeat([]byte{'.'}, max(0, size-len(begin)-len(end)))) + end
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})
	return &backend{handler: h, count: func(*counters) {}, close: func() error { return nil }}, nil
}
