package campaign

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
)

func squares(total uint64, workers int, stopAt uint64) []uint64 {
	var got []uint64
	InOrder(context.Background(), total, workers, func(i uint64) uint64 { return i * i }, func(i, result uint64) bool {
		got = append(got, result)
		return i != stopAt
	})
	return got
}

func TestResultsComeInOrderWhateverTheWorkers(t *testing.T) {
	var want []uint64
	for i := range uint64(500) {
		want = append(want, i*i)
	}
	for _, workers := range []int{1, 2, 3, 16, 1000} {
		if got := squares(500, workers, 500); !slices.Equal(got, want) {
			t.Errorf("%d workers: %d results, not the 500 squares in order", workers, len(got))
		}
	}
}

func TestStoppingDeliversNoMore(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		if got := squares(500, workers, 41); len(got) != 42 {
			t.Errorf("%d workers: %d results delivered, want 42", workers, len(got))
		}
	}
}

func TestNobodyRunsFarAhead(t *testing.T) {
	const workers = 3
	var mu sync.Mutex
	var taken, delivered, most uint64
	InOrder(context.Background(), 400, workers, func(i uint64) uint64 {
		mu.Lock()
		defer mu.Unlock()
		taken++
		most = max(most, taken-delivered)
		return i
	}, func(i, _ uint64) bool {
		mu.Lock()
		defer mu.Unlock()
		delivered++
		return true
	})
	if limit := uint64(ahead*workers + 1); most > limit {
		t.Errorf("%d results were waiting, want at most %d", most, limit)
	}
}

func TestGoexitLosesNoJob(t *testing.T) {
	count, zero := 0, 0
	InOrder(context.Background(), 50, 2, func(i uint64) uint64 {
		if i%7 == 3 {
			runtime.Goexit()
		}
		return i + 1
	}, func(i, result uint64) bool {
		count++
		if result == 0 {
			zero++
		}
		return true
	})
	if count != 50 || zero != 7 {
		t.Errorf("%d results of which %d are zero, want 50 and 7", count, zero)
	}
}

// TestInterruption checks that after an interrupt no more results are delivered and no job is waited for.
func TestInterruption(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	stuck := make(chan struct{})
	delivered := 0
	InOrder(ctx, 500, 3, func(i uint64) uint64 {
		if i == 200 {
			interrupt()
			<-stuck // blocks until the test has ended
		}
		return i
	}, func(i, _ uint64) bool {
		delivered++
		return true
	})
	if delivered > 200 {
		t.Errorf("%d results delivered, want no more than the 200 before the job that never ends", delivered)
	}
	close(stuck)
}
