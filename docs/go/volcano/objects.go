package volcano

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodeinfov1alpha1 "volcano.sh/apis/pkg/apis/nodeinfo/v1alpha1"
	schedulingv1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	topologyv1alpha1 "volcano.sh/apis/pkg/apis/topology/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/cache"

	"cpsched.local/cpschedtest"
)

// read decodes an object into a type and hands it on.
func read[T any](object cpschedtest.Object, use func(*T) error) error {
	target := new(T)
	if err := object.Into(target); err != nil {
		return err
	}
	return use(target)
}

// hear tells the cache of an object through its own handlers.
func hear(object cpschedtest.Object, known *cache.SchedulerCache) error {
	switch object.Kind {
	case "Node":
		return read(object, known.AddOrUpdateNode)
	case "Pod":
		return read(object, func(pod *v1.Pod) error {
			withGroup(pod, known)
			known.AddPod(pod)
			return nil
		})
	case "PodGroup":
		return read(object, func(group *schedulingv1beta1.PodGroup) error { known.AddPodGroupV1beta1(group); return nil })
	case "Queue":
		return read(object, func(queue *schedulingv1beta1.Queue) error { known.AddQueueV1beta1(queue); return nil })
	case "PriorityClass":
		return read(object, func(class *schedulingv1.PriorityClass) error { known.AddPriorityClass(class); return nil })
	case "ResourceQuota":
		return read(object, func(quota *v1.ResourceQuota) error { known.AddResourceQuota(quota); return nil })
	case "Numatopology":
		return read(object, func(numa *nodeinfov1alpha1.Numatopology) error { known.AddNumaInfoV1alpha1(numa); return nil })
	case "HyperNode":
		return read(object, func(one *topologyv1alpha1.HyperNode) error { known.AddHyperNode(one); return nil })
	}
	return nil
}

// created puts what plugins ask informers for into the stand-in of the API server.
func created(c *cpschedtest.Case, known *cache.SchedulerCache) error {
	for _, object := range c.Objects() {
		if err := create(object, known); err != nil {
			return err
		}
	}
	return nil
}

func create(object cpschedtest.Object, known *cache.SchedulerCache) error {
	client, options := known.Client(), metav1.CreateOptions{}
	switch object.Kind {
	case "Namespace":
		return read(object, func(one *v1.Namespace) error {
			_, err := client.CoreV1().Namespaces().Create(background, one, options)
			return err
		})
	case "PersistentVolume":
		return read(object, func(one *v1.PersistentVolume) error {
			_, err := client.CoreV1().PersistentVolumes().Create(background, one, options)
			return err
		})
	case "PersistentVolumeClaim":
		return read(object, func(one *v1.PersistentVolumeClaim) error {
			_, err := client.CoreV1().PersistentVolumeClaims(one.Namespace).Create(background, one, options)
			return err
		})
	case "StorageClass":
		return read(object, func(one *storagev1.StorageClass) error {
			_, err := client.StorageV1().StorageClasses().Create(background, one, options)
			return err
		})
	case "CSINode":
		return read(object, func(one *storagev1.CSINode) error {
			_, err := client.StorageV1().CSINodes().Create(background, one, options)
			return err
		})
	case "PodDisruptionBudget":
		return read(object, func(one *policyv1.PodDisruptionBudget) error {
			_, err := client.PolicyV1().PodDisruptionBudgets(one.Namespace).Create(background, one, options)
			return err
		})
	case "DeviceClass":
		return read(object, func(one *resourcev1.DeviceClass) error {
			_, err := client.ResourceV1().DeviceClasses().Create(background, one, options)
			return err
		})
	case "ResourceClaim":
		return read(object, func(one *resourcev1.ResourceClaim) error {
			_, err := client.ResourceV1().ResourceClaims(one.Namespace).Create(background, one, options)
			return err
		})
	case "ResourceSlice":
		return read(object, func(one *resourcev1.ResourceSlice) error {
			_, err := client.ResourceV1().ResourceSlices().Create(background, one, options)
			return err
		})
	}
	return nil
}
