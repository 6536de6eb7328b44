package memory_test

import (
	"testing"

	"github.com/parley-agents/parley/store"
	"github.com/parley-agents/parley/store/memory"
	"github.com/parley-agents/parley/store/storetest"
)

// BenchmarkMessage is what one message costs in larger and larger stores.
func BenchmarkMessage(b *testing.B) {
	storetest.Benchmark(b, func(*testing.B) store.Store { return memory.New() })
}
