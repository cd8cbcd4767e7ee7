package oracle_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/durosim/durosim/engine"
	"github.com/durosim/durosim/engine/observe"
	"github.com/durosim/durosim/memprovider"
	"github.com/durosim/durosim/properties/oracle"
)

// A log of calls can be judged later, for example on another machine.
func ExampleRecord() {
	store := memprovider.New(memprovider.Options{StartMs: 1000})
	build := engine.ShippedBuilds()[1]
	var log bytes.Buffer
	p := oracle.Record(store.Handle(build.Codec, observe.Caller{}), store.Now, &log)
	ctx := context.Background()
	_ = p.EnqueueForOrchestrator(ctx, engine.StartItem{Instance: "order-1", Orchestration: "Order", ExecutionID: 1}, 0)
	_, _ = p.FetchOrchestrationItem(ctx, 5*time.Second, 0, nil)
	_ = p.RenewOrchestrationItemLock(ctx, "o1", 10*time.Second)
	fmt.Println(p.Err())

	fmt.Println(oracle.CheckLog(&log, oracle.Options{}))
	// Output:
	// <nil>
	// 3 <nil>
}

// The error names the first wrong line in a log.
func ExampleCheckLog() {
	log := `{"at_ms":[5,9],"method":"latest_execution_id","params":{"instance":"A"},"result":1}
{"at_ms":9,"method":"get_kv_value","params":{"instance":"A","key":"k"},"result":"v"}`
	calls, err := oracle.CheckLog(strings.NewReader(log), oracle.Options{})
	fmt.Println(calls, err)
	// Output:
	// 1 line 2: call 2 at 9 ms: get_kv_value {"instance":"A","key":"k"}
	//   answered   "v"
	//   but        the merged view of the key is null [docs/contract/provider.md#p5.15, I14, I15, I17]
	//   allowed    null [docs/contract/provider.md#p5.15, I14, I15]
}
