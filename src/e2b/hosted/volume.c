/* SPDX-License-Identifier: MIT */
#include "e2b/hosted/volume.h"

#include "base/error.h"
#include "proto/plan.h"

struct fh_volume *fh_volume_hold(struct fh_volume *v)
{
	atomic_fetch_add(&v->references, 1);
	return v;
}

void fh_volume_drop(struct fh_volume *v)
{
	if (atomic_fetch_sub(&v->references, 1) > 1)
		return;
	pthread_mutex_destroy(&v->lock);
	free(v->name);
	free(v->folder);
	free(v);
}

int fh_volume_full(const struct fh_volume *v, struct fh_error *err)
{
	if (atomic_load(&v->bytes) == UINT64_MAX)
		return fh_error_set(err, FH_E_LIMIT,
		                    "the size of volume %s cannot be determined; remove what its owner may not read", v->name);
	return fh_error_set(
	    err, FH_E_LIMIT,
	    "volume %s is full: it has %llu bytes and may have %llu; remove files by the volume's own calls", v->name,
	    (unsigned long long)atomic_load(&v->bytes),
	    (unsigned long long)v->owner->ceilings.value[FH_CEILING_VOLUME_SIZE]);
}

void fh_volume_mounts_free(struct fh_volume_mount *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		atomic_fetch_sub(&list[i].volume->mounts, 1);
		fh_volume_drop(list[i].volume);
		free(list[i].path);
	}
	free(list);
}

void fh_volume_mounts_release(struct fh_hosted *h)
{
	pthread_mutex_lock(&h->lock);
	struct fh_volume_mount *list = FH_TAKE_PTR(h->volumes);
	size_t n = h->volume_count;
	h->volume_count = 0;
	pthread_mutex_unlock(&h->lock);
	fh_volume_mounts_free(list, n);
}

FH_OWN json_t *fh_volume_mounts_json(struct fh_hosted *h, bool with_ids)
{
	json_t *list = json_array();
	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->volume_count; i++) {
		json_t *o = json_object();
		json_object_set_new(o, "name", json_string(h->volumes[i].volume->name));
		json_object_set_new(o, "path", fh_json_bytes(fh_str(h->volumes[i].path)));
		if (with_ids)
			json_object_set_new(o, "id", json_string(h->volumes[i].volume->id));
		json_array_append_new(list, o);
	}
	pthread_mutex_unlock(&h->lock);
	return list;
}

bool fh_volume_mounts_full(struct fh_hosted *h, struct fh_error *err)
{
	bool found = false;
	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->volume_count && !found; i++)
		if ((found = atomic_load(&h->volumes[i].volume->is_full)))
			fh_volume_full(h->volumes[i].volume, err);
	pthread_mutex_unlock(&h->lock);
	return found;
}

void fh_volume_mounts_plan(const struct fh_hosted *h, struct fh_plan *plan)
{
	fh_plan_drop_mounts(plan, FH_MOUNT_VOLUME);
	for (size_t i = 0; i < h->volume_count; i++)
		fh_plan_add_mount(plan, FH_MOUNT_VOLUME, h->volumes[i].path, h->volumes[i].volume->folder);
	if (h->through)
		fh_plan_add_mount(plan, FH_MOUNT_VOLUME, FH_VOLUME_INSIDE, h->through->folder);
}
