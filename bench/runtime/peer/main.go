// SPDX-License-Identifier: Apache-2.0

// The peer of ../figures/figures.c: the same figures of client-go's informer and workqueue, used as its users use
// them, against the same server. Prints one line of name=value.
//
//	peer sync | reconciles N | reading N | latency | queue
//
// Built from Debian's packages, without modules: GO111MODULE=off GOPATH=/usr/share/gocode.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	events = 2000
	warmUp = 200
	cycles = 10000
	keys   = 1000
	rounds = 200
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func connect() *kubernetes.Clientset {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	config.QPS = -1
	config.DisableCompression = true // Which makes it faster on one machine.
	client, err := kubernetes.NewForConfig(config)
	check(err)
	// The connection is made before.
	_, err = client.CoreV1().ConfigMaps("default").Get(context.Background(), "object-0", metav1.GetOptions{})
	check(err)
	return client
}

// In KB, after what a collection of garbage can give back has been given back.
func resident() int {
	debug.FreeOSMemory()
	file, err := os.Open("/proc/self/status")
	check(err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); fields[0] == "VmRSS:" {
			kb, err := strconv.Atoi(fields[1])
			check(err)
			return kb
		}
	}
	return 0
}

func ofProcess() float64 {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e6
}

// As controllers are advised to, to save memory; the other side does it too.
func stripManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func newInformer(client *kubernetes.Clientset) (cache.SharedIndexInformer, informers.SharedInformerFactory) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(stripManagedFields))
	return factory.Core().V1().ConfigMaps().Informer(), factory
}

func syncCache() {
	client := connect()
	before, used, start := resident(), ofProcess(), time.Now()
	informer, factory := newInformer(client)
	stop := make(chan struct{})
	factory.Start(stop)
	for !informer.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	took, cpu := time.Since(start), ofProcess()-used
	n := len(informer.GetStore().ListKeys())
	fmt.Printf("objects=%d ms=%.1f cpu_ms=%.1f resident_kb=%d\n", n, float64(took.Microseconds())/1e3, cpu, resident()-before)
}

type queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
}

func keyOf(object any) types.NamespacedName {
	configMap := object.(*v1.ConfigMap)
	return types.NamespacedName{Namespace: configMap.Namespace, Name: configMap.Name}
}

// An informer whose changes go to a queue, synced.
func controller(client *kubernetes.Clientset) (queue, cache.Indexer) {
	informer, factory := newInformer(client)
	queue := newQueue()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { queue.Add(keyOf(object)) },
		UpdateFunc: func(_, object any) { queue.Add(keyOf(object)) },
	})
	check(err)
	factory.Start(make(chan struct{}))
	for !registration.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	return queue, informer.GetIndexer()
}

func work(queue queue, reconcile func(types.NamespacedName)) {
	for {
		key, over := queue.Get()
		if over {
			return
		}
		reconcile(key)
		queue.Forget(key)
		queue.Done(key)
	}
}

func reconciles(workers int, reading bool) {
	queue, store := controller(connect())
	lister := listers.NewConfigMapLister(store)
	n := len(store.ListKeys())
	var all sync.WaitGroup
	all.Add(n)
	reconcile := func(key types.NamespacedName) {
		if reading {
			_, err := lister.ConfigMaps(key.Namespace).Get(key.Name)
			check(err)
		}
		all.Done()
	}
	start := time.Now()
	for range workers {
		go work(queue, reconcile)
	}
	all.Wait()
	fmt.Printf("a_second=%.0f\n", float64(n)/time.Since(start).Seconds())
}

func latency() {
	client := connect()
	queue, store := controller(client)
	n := len(store.ListKeys())
	began := make(chan time.Time, n)
	go work(queue, func(types.NamespacedName) { began <- time.Now() })
	for range n {
		<-began
	}
	var spans []time.Duration
	text := strings.Repeat("x", 770)
	for i := -warmUp; i < events; i++ {
		object := &v1.ConfigMap{Data: map[string]string{"text": text, "value": strconv.FormatInt(time.Now().UnixNano(), 10)}}
		object.Namespace, object.Name = "default", fmt.Sprint("object-", i+warmUp)
		start := time.Now()
		_, err := client.CoreV1().ConfigMaps("default").Update(context.Background(), object, metav1.UpdateOptions{})
		check(err)
		if at := <-began; i >= 0 {
			spans = append(spans, at.Sub(start))
		}
	}
	slices.Sort(spans)
	fmt.Printf("p50_us=%d p99_us=%d\n", spans[events/2].Microseconds(), spans[events*99/100].Microseconds())
}

func cyclesASecond(queue queue, names []types.NamespacedName) float64 {
	start := time.Now()
	for i := range cycles {
		queue.Add(names[i%keys])
		key, _ := queue.Get()
		queue.Done(key)
	}
	return cycles / time.Since(start).Seconds()
}

func measureQueue() {
	queue, best := newQueue(), 0.0
	var names []types.NamespacedName
	for i := range keys {
		names = append(names, types.NamespacedName{Namespace: "default", Name: fmt.Sprint("object-", i)})
	}
	for range rounds {
		best = max(best, cyclesASecond(queue, names))
	}
	fmt.Printf("a_second=%.0f\n", best)
}

func main() {
	words := append(os.Args[1:], "", "")
	switch words[0] {
	case "sync":
		syncCache()
	case "reconciles", "reading":
		workers, err := strconv.Atoi(words[1])
		check(err)
		reconciles(workers, words[0] == "reading")
	case "latency":
		latency()
	case "queue":
		measureQueue()
	default:
		os.Exit(2)
	}
}
