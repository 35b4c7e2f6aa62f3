package kube

import (
	"fmt"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"cpsched.local/cpschedtest"
)

// objects are the cluster and, apart from it, the pods that wait, in the order of creation.
func objects(c *cpschedtest.Case) (existing []runtime.Object, pending []*v1.Pod, err error) {
	decoder := scheme.Codecs.UniversalDeserializer()
	for _, object := range c.Objects() {
		decoded, _, err := decoder.Decode(object.Raw, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			continue // Queues, PodGroups of Volcano: no kind that kube-scheduler reads
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", object.Kind, object.Key(), err)
		}
		pod, ok := decoded.(*v1.Pod)
		if !ok {
			existing = append(existing, decoded)
			continue
		}
		completed(pod)
		if waits(pod) {
			pending = append(pending, pod)
		} else {
			existing = append(existing, pod)
		}
	}
	// The scheduler hears of pods as they are created.
	sort.SliceStable(pending, func(i, j int) bool {
		return pending[i].CreationTimestamp.Time.Before(pending[j].CreationTimestamp.Time)
	})
	return existing, pending, nil
}

func waits(pod *v1.Pod) bool {
	ended := pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
	return pod.Spec.NodeName == "" && !ended
}

// completed fills in what the API server always states.
func completed(pod *v1.Pod) {
	if pod.UID == "" {
		pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
	}
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = v1.DefaultSchedulerName
	}
}
