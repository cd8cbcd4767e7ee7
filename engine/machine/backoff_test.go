package machine

import (
	"fmt"
	"testing"
	"time"

	"github.com/durosim/durosim/engine/node"
)

func ExampleRenewalInterval() {
	o := node.DefaultOptions()
	fmt.Println(RenewalInterval(o.OrchestratorLockTimeout, o.OrchestratorLockRenewalBuffer))
	fmt.Println(RenewalInterval(o.WorkerLockTimeout, o.WorkerLockRenewalBuffer))
	// Output:
	// 3s
	// 25s
}

func ExampleUnregisteredBackoff() {
	for n := range uint32(10) {
		fmt.Print(UnregisteredBackoff(n+1, time.Second, time.Minute), " ")
	}
	// Output: 1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s 1m0s
}

func ExampleFetchErrorBackoff() {
	for k := range 6 {
		fmt.Print(FetchErrorBackoff(k+1), " ")
	}
	// Output: 200ms 400ms 800ms 1.6s 3s 3s
}

func ExampleAckRetryDelay() {
	for k := range AckRetries {
		fmt.Print(AckRetryDelay(k+1), " ")
	}
	// Output: 10ms 20ms 40ms 80ms 160ms
}

func ExampleRenewalRetryDelay() {
	fmt.Println(RenewalRetryDelay(100*time.Millisecond), RenewalRetryDelay(5*time.Second), RenewalRetryDelay(30*time.Second))
	// Output: 10ms 250ms 500ms
}

func TestRenewalInterval(t *testing.T) {
	const s = time.Second
	for _, c := range []struct{ timeout, buffer, want time.Duration }{
		{time.Millisecond, 0, s}, {s, 0, s}, {1500 * time.Millisecond, 0, s}, {2 * s, 5 * s, s}, {2001 * time.Millisecond, 0, 2 * s},
		{3 * s, 0, 2 * s}, {4 * s, 0, 2 * s}, {5 * s, 2 * s, 3 * s}, {14 * s, 9 * s, 7 * s}, {14999 * time.Millisecond, 0, 8 * s},
		{15 * s, 0, 15 * s}, {15 * s, 2 * s, 13 * s}, {15 * s, 14500 * time.Millisecond, s}, {15 * s, 60 * s, s}, {30 * s, 5 * s, 25 * s},
	} {
		if got := RenewalInterval(c.timeout, c.buffer); got != c.want {
			t.Errorf("RenewalInterval(%v, %v) = %v, want %v", c.timeout, c.buffer, got, c.want)
		}
	}
}

func TestUnregisteredBackoffBounds(t *testing.T) {
	for _, c := range []struct {
		n          uint32
		base, most time.Duration
		want       time.Duration
	}{
		{0, time.Second, time.Minute, time.Second},
		{7, time.Second, time.Hour, 64 * time.Second},
		{4000000000, time.Second, time.Hour, 64 * time.Second},
		{7, 1 << 60, 1 << 61, 1 << 61},
	} {
		if got := UnregisteredBackoff(c.n, c.base, c.most); got != c.want {
			t.Errorf("UnregisteredBackoff(%d, %v, %v) = %v, want %v", c.n, c.base, c.most, got, c.want)
		}
	}
}
