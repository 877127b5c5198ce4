// Soak floods a limiter for a while and fails if that leaves a goroutine, or
// a heap that grows. Run it with the race detector:
//
//	go run -race ./bench/cmd/soak -for 10m
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/slidegate/slidegate/bench/internal/soak"
	"github.com/slidegate/slidegate/core"
)

func main() {
	p := soak.Plan{Tell: func(r soak.Reading) { fmt.Println(r) }}
	flag.DurationVar(&p.For, "for", 10*time.Minute, "how `long` to flood")
	flag.IntVar(&p.MaxKeys, "keys", core.DefaultMaxKeys, "the capacity of the memory store")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result := soak.Run(ctx, p)
	faults := result.Faults()
	for _, fault := range faults {
		fmt.Println("FAULT:", fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	fmt.Printf("no goroutine is left, and the heap did not grow in %v\n", p.For)
}
