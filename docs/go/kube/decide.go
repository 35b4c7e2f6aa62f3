// Package kube lets kube-scheduler decide the cases of a corpus: every pending pod is tried once, in the queue's order.
//
// The scheduler is an ordinary dependency: point the `replace` line of go.mod at your fork, and it is your fork that
// decides. The API server is client-go's stand-in; victims go on ending until the session is over.
package kube

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	core "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"cpsched.local/cpschedtest"
)

// patience is how long is waited for the informers to show what was written.
const patience = 30 * time.Second

// Decide is the scheduler as cpschedtest.Run takes it.
func Decide(t testing.TB, c *cpschedtest.Case) cpschedtest.Decision {
	t.Helper()
	decided, err := Session(c)
	if err != nil {
		t.Fatal(err)
	}
	return decided
}

// Session tries every pending pod of the case once.
func Session(c *cpschedtest.Case) (cpschedtest.Decision, error) {
	// Evictions in the background could be seen by one pod and not by the next.
	if err := utilfeature.DefaultMutableFeatureGate.Set("SchedulerAsyncPreemption=false"); err != nil {
		return cpschedtest.Decision{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &session{
		ctx: ctx, nominated: map[types.UID]bool{}, tried: map[types.UID]bool{},
		decided: cpschedtest.Decision{Binds: map[string]string{}, Pipelined: map[string]string{}},
	}
	if err := s.start(c); err != nil {
		return cpschedtest.Decision{}, err
	}
	if err := s.run(); err != nil {
		return cpschedtest.Decision{}, err
	}
	return s.decided, s.reservations()
}

type session struct {
	ctx       context.Context
	client    *fake.Clientset
	scheduler *scheduler.Scheduler
	decided   cpschedtest.Decision
	pending   []*v1.Pod
	nominated map[types.UID]bool
	tried     map[types.UID]bool
	now       *v1.Pod
	victims   []*v1.Pod
}

func (s *session) start(c *cpschedtest.Case) error {
	existing, pending, err := objects(c)
	if err != nil {
		return err
	}
	s.client, s.pending = fake.NewSimpleClientset(existing...), pending
	s.client.PrependReactor("delete", "pods", s.evicted)
	s.client.PrependReactor("create", "pods", bound)
	informers := scheduler.NewInformerFactory(s.client, 0)
	options, err := configured(c)
	if err != nil {
		return err
	}
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	if s.scheduler, err = scheduler.New(s.ctx, s.client, informers, nil, recorder, options...); err != nil {
		return err
	}
	s.watch()
	informers.Start(s.ctx.Done())
	informers.WaitForCacheSync(s.ctx.Done())
	if err := s.scheduler.WaitForHandlersSync(s.ctx); err != nil {
		return err
	}
	return s.queue()
}

// queue adds the pending pods one after the other: the queue takes those of equal priority in the order of arrival.
func (s *session) queue() error {
	for _, pod := range s.pending {
		if err := s.client.Tracker().Add(pod); err != nil {
			return err
		}
		err := s.until(fmt.Sprintf("pod %s is in the queue", klog.KObj(pod)), func() bool {
			return s.isForeign(pod) || s.isQueued(pod)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isQueued says whether the queue knows the pod, gated or not.
func (s *session) isQueued(pod *v1.Pod) bool {
	known, _ := s.scheduler.SchedulingQueue.PendingPods()
	for _, one := range known {
		if one.UID == pod.UID {
			return true
		}
	}
	return false
}

// isForeign says whether no profile schedules the pod.
func (s *session) isForeign(pod *v1.Pod) bool {
	_, known := s.scheduler.Profiles[pod.Spec.SchedulerName]
	return !known
}

// watch sees which pod is tried, and which are nominated.
func (s *session) watch() {
	next := s.scheduler.NextPod
	s.scheduler.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		found, err := next(logger)
		if err != nil || found == nil {
			return found, err
		}
		if s.tried[found.Pod.UID] {
			s.scheduler.SchedulingQueue.Done(found.Pod.UID)
			return nil, nil
		}
		s.tried[found.Pod.UID], s.now = true, found.Pod
		return found, nil
	}
	failed := s.scheduler.FailureHandler
	s.scheduler.FailureHandler = func(ctx context.Context, f framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		if nominating != nil && nominating.Mode() == fwk.ModeOverride && nominating.NominatedNodeName != "" {
			s.nominated[pod.Pod.UID] = true
		}
		failed(ctx, f, pod, status, nominating, start)
	}
}

func (s *session) run() error {
	for len(s.scheduler.SchedulingQueue.PodsInActiveQ()) > 0 {
		s.now = nil
		s.scheduler.ScheduleOne(s.ctx)
		if s.now == nil {
			continue
		}
		if pod, err := s.scheduler.Cache.GetPod(s.now); err == nil && pod.Spec.NodeName != "" {
			s.decided.Binds[key(pod)] = pod.Spec.NodeName
		}
		if err := s.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the scheduler knows that its victims are ending.
func (s *session) settle() error {
	for _, victim := range s.victims {
		err := s.until(fmt.Sprintf("victim %s is ending", klog.KObj(victim)), func() bool {
			pod, err := s.scheduler.Cache.GetPod(victim)
			return err == nil && pod.DeletionTimestamp != nil
		})
		if err != nil {
			return err
		}
	}
	s.victims = nil
	return nil
}

// evicted answers the deletion of a pod as the API server does: it is ending, and still there.
func (s *session) evicted(action core.Action) (bool, runtime.Object, error) {
	deletion, ok := action.(core.DeleteAction)
	if !ok || s.now == nil {
		return false, nil, nil
	}
	found, err := s.client.Tracker().Get(action.GetResource(), action.GetNamespace(), deletion.GetName())
	if err != nil {
		return true, nil, err
	}
	pod := found.(*v1.Pod).DeepCopy()
	if pod.DeletionTimestamp != nil {
		return true, pod, nil
	}
	moment := metav1.Now()
	pod.DeletionTimestamp = &moment
	s.decided.Evictions = append(s.decided.Evictions, cpschedtest.Eviction{
		Task: key(pod), Node: pod.Spec.NodeName, Action: "preempt",
	})
	s.victims = append(s.victims, pod)
	return true, pod, s.client.Tracker().Update(action.GetResource(), pod, pod.Namespace)
}

// bound accepts a binding: the scheduler has assumed the pod already.
func bound(action core.Action) (bool, runtime.Object, error) {
	return action.GetSubresource() == "binding", nil, nil
}

// reservations are the pods that were nominated in this session and still are.
func (s *session) reservations() error {
	for _, pod := range s.pending {
		if _, starts := s.decided.Binds[key(pod)]; starts || !s.nominated[pod.UID] {
			continue
		}
		now, err := s.client.CoreV1().Pods(pod.Namespace).Get(s.ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if node := now.Status.NominatedNodeName; node != "" {
			s.decided.Pipelined[key(pod)] = node
		}
	}
	return nil
}

func (s *session) until(what string, holds func() bool) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if holds() {
			return nil
		}
	}
	return errors.New("not in time: " + what)
}

// configured are the options of a KubeSchedulerConfiguration, or the defaults.
func configured(c *cpschedtest.Case) ([]scheduler.Option, error) {
	text := []byte(`{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}`)
	if len(c.Conf) > 0 && string(c.Conf) != "null" {
		text = c.Conf
	}
	found, _, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, err
	}
	stated, ok := found.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("%T is no KubeSchedulerConfiguration", found)
	}
	if len(stated.Extenders) > 0 {
		return nil, errors.New("extenders are programs elsewhere: they are not asked")
	}
	return []scheduler.Option{
		scheduler.WithProfiles(stated.Profiles...),
		scheduler.WithPercentageOfNodesToScore(stated.PercentageOfNodesToScore),
		scheduler.WithPodInitialBackoffSeconds(stated.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(stated.PodMaxBackoffSeconds),
	}, nil
}

func key(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }
