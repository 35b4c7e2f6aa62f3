// Package volcano lets Volcano's scheduler decide the cases of a corpus, one session each.
//
// The scheduler is an ordinary dependency: point the `replace` line of go.mod at your fork, and it is your fork that
// decides.
package volcano

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	"volcano.sh/volcano/pkg/scheduler"
	"volcano.sh/volcano/pkg/scheduler/actions/allocate"
	"volcano.sh/volcano/pkg/scheduler/actions/backfill"
	"volcano.sh/volcano/pkg/scheduler/actions/enqueue"
	"volcano.sh/volcano/pkg/scheduler/actions/preempt"
	"volcano.sh/volcano/pkg/scheduler/actions/reclaim"
	"volcano.sh/volcano/pkg/scheduler/actions/shuffle"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
	"volcano.sh/volcano/pkg/scheduler/metrics"
	"volcano.sh/volcano/pkg/scheduler/util"

	"cpsched.local/cpschedtest"
)

const schedulerName = "volcano"

// fresh makes actions anew for every case: some keep what they saw in a field.
var fresh = map[string]func() framework.Action{
	"allocate": func() framework.Action { return allocate.New() },
	"backfill": func() framework.Action { return backfill.New() },
	"enqueue":  func() framework.Action { return enqueue.New() },
	"preempt":  func() framework.Action { return preempt.New() },
	"reclaim":  func() framework.Action { return reclaim.New() },
	"shuffle":  func() framework.Action { return shuffle.New() },
}

func init() { metrics.InitKubeSchedulerRelatedMetrics() }

// Decide is the scheduler as cpschedtest.Run takes it.
func Decide(t testing.TB, c *cpschedtest.Case) cpschedtest.Decision {
	t.Helper()
	decided, err := Session(c)
	if err != nil {
		t.Fatal(err)
	}
	return decided
}

// Session opens one session over the cluster of the case and runs the configured actions.
func Session(c *cpschedtest.Case) (cpschedtest.Decision, error) {
	text := scheduler.DefaultSchedulerConf
	if len(c.Conf) > 0 && string(c.Conf) != "null" {
		text = string(c.Conf) // JSON is YAML
	}
	actions, tiers, configurations, _, err := scheduler.UnmarshalSchedulerConf(text)
	if err != nil {
		return cpschedtest.Decision{}, err
	}
	stop := make(chan struct{})
	defer close(stop)
	known, err := filled(c, stop)
	if err != nil {
		return cpschedtest.Decision{}, err
	}
	conf.EnabledActionMap = map[string]bool{}
	for _, action := range actions {
		conf.EnabledActionMap[action.Name()] = true
	}
	session := framework.OpenSession(known, tiers, configurations)
	defer framework.CloseSession(session)
	found := newObserver(session)
	for _, action := range actions {
		if make, known := fresh[action.Name()]; known {
			action = make()
		}
		action.Initialize()
		action.Execute(session)
		action.UnInitialize()
		found.after(action.Name())
	}
	return found.decision(), nil
}

// observer reads the session's own state: what it dispatched, allocated, reserved and evicted.
type observer struct {
	session  *framework.Session
	releases map[api.TaskID]string
	pending  map[api.JobID]bool
}

func newObserver(session *framework.Session) *observer {
	o := &observer{session, map[api.TaskID]string{}, map[api.JobID]bool{}}
	o.eachTask(api.Releasing, func(task *api.TaskInfo) { o.releases[task.UID] = "" })
	for id, job := range session.Jobs {
		phase := job.PodGroup.Status.Phase
		o.pending[id] = phase == "" || string(phase) == string(schedulingv1beta1.PodGroupPending)
	}
	return o
}

// after notes which tasks an action evicted; what it took back is running again.
func (o *observer) after(action string) {
	o.eachTask(api.Releasing, func(task *api.TaskInfo) {
		if _, known := o.releases[task.UID]; !known {
			o.releases[task.UID] = action
		}
	})
}

func (o *observer) eachTask(status api.TaskStatus, visit func(*api.TaskInfo)) {
	for _, job := range o.session.Jobs {
		for _, task := range job.TaskStatusIndex[status] {
			visit(task)
		}
	}
}

func (o *observer) decision() cpschedtest.Decision {
	found := cpschedtest.Decision{
		Binds: o.places(api.Binding), Allocated: o.places(api.Allocated), Pipelined: o.places(api.Pipelined),
		Phases: map[string]string{},
	}
	o.eachTask(api.Releasing, func(task *api.TaskInfo) {
		if action := o.releases[task.UID]; action != "" {
			victim := cpschedtest.Eviction{Task: task.Namespace + "/" + task.Name, Node: task.NodeName, Action: action}
			found.Evictions = append(found.Evictions, victim)
		}
	})
	for id, job := range o.session.Jobs {
		if o.pending[id] && string(job.PodGroup.Status.Phase) == string(schedulingv1beta1.PodGroupInqueue) {
			found.Phases[string(id)] = string(job.PodGroup.Status.Phase)
		}
	}
	return found
}

func (o *observer) places(status api.TaskStatus) map[string]string {
	found := map[string]string{}
	o.eachTask(status, func(task *api.TaskInfo) { found[task.Namespace+"/"+task.Name] = task.NodeName })
	return found
}

// silent binds, evicts and updates nothing: the session's state says it all.
type silent struct{ util.FakeStatusUpdater }

func (*silent) Bind(kubernetes.Interface, []*api.TaskInfo) map[api.TaskID]string { return nil }
func (*silent) Evict(*v1.Pod, string) error                                      { return nil }

// filled is a scheduler cache that has heard of every object, in the order of the case.
func filled(c *cpschedtest.Case, stop chan struct{}) (*cache.SchedulerCache, error) {
	nobody := &silent{}
	known := cache.NewCustomMockSchedulerCache(schedulerName, nobody, nobody, nobody, nil, &record.FakeRecorder{})
	if err := shard(c, known); err != nil {
		return nil, err
	}
	if err := created(c, known); err != nil {
		return nil, err
	}
	known.Run(stop)
	return known, heard(c, known)
}

// shard restricts the scheduler to the nodes of its shard, if the case has one.
func shard(c *cpschedtest.Case, known *cache.SchedulerCache) error {
	stated, err := c.Sharding()
	if err != nil || stated == nil {
		return err
	}
	options.ServerOpts.ShardingMode = stated.Mode
	options.ServerOpts.ShardName = stated.Name
	known.InUseNodesInShard = sets.New(stated.Nodes...)
	return nil
}

// heard hands over what the cache is told of by its handlers.
func heard(c *cpschedtest.Case, known *cache.SchedulerCache) error {
	for _, object := range c.Objects() {
		if err := hear(object, known); err != nil {
			return fmt.Errorf("%s %s: %w", object.Kind, object.Key(), err)
		}
	}
	ownQueues(c, known)
	return nil
}

// ownQueues are those that the scheduler makes when it starts, unless the case has them.
func ownQueues(c *cpschedtest.Case, known *cache.SchedulerCache) {
	stated := map[string]bool{}
	for _, queue := range c.Queues() {
		stated[queue.Name] = true
	}
	for name, reclaimable := range map[string]bool{schedulingv1beta1.DefaultQueue: true, "root": false} {
		if !stated[name] {
			known.AddQueueV1beta1(&schedulingv1beta1.Queue{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       schedulingv1beta1.QueueSpec{Weight: 1, Reclaimable: &reclaimable},
				Status:     schedulingv1beta1.QueueStatus{State: schedulingv1beta1.QueueStateOpen},
			})
		}
	}
}

// withGroup gives a pod of Volcano's without a PodGroup one of its own, as Volcano's controller does.
func withGroup(pod *v1.Pod, known *cache.SchedulerCache) {
	if pod.UID == "" {
		pod.UID = types.UID(strings.Join([]string{pod.Namespace, pod.Name}, "-"))
	}
	const group = schedulingv1beta1.KubeGroupNameAnnotationKey
	named := pod.Annotations[group] != "" || pod.Annotations[schedulingv1beta1.VolcanoGroupNameAnnotationKey] != ""
	if named || pod.Spec.SchedulerName != schedulerName {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	name := "podgroup-" + string(pod.UID)
	pod.Annotations[group] = name
	queue := pod.Annotations[schedulingv1beta1.QueueNameAnnotationKey]
	if queue == "" {
		queue = schedulingv1beta1.DefaultQueue
	}
	known.AddPodGroupV1beta1(&schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, CreationTimestamp: pod.CreationTimestamp},
		Spec:       schedulingv1beta1.PodGroupSpec{MinMember: 1, Queue: queue, PriorityClassName: pod.Spec.PriorityClassName},
	})
}

var background = context.Background()
