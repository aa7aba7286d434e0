package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Magic numbers of statfs(2), for the types whose volumes have a filesystem of their own.
var magic = map[string]int64{"ext4": unix.EXT4_SUPER_MAGIC, "xfs": unix.XFS_SUPER_MAGIC}

// isMounted says what is wrong with a target: it is no mount point, or, when `fsType` is given, not a filesystem of
// that type that is no larger than the volume. A driver that answers OK and does nothing is not fast. Neither
// call depends on how many mounts there are.
func isMounted(target, fsType string, size int64) error {
	var at unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, target, unix.AT_SYMLINK_NOFOLLOW, 0, &at); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if at.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return fmt.Errorf("%s is no mount point after NodePublishVolume", target)
	}
	want, check := magic[fsType]
	if !check {
		return nil
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(target, &fs); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if fs.Type != want {
		return fmt.Errorf("%s holds a filesystem of type %#x, expected %s", target, fs.Type, fsType)
	}
	if total := int64(fs.Blocks) * fs.Bsize; total > size {
		return fmt.Errorf("%s holds %d bytes, the volume has %d", target, total, size)
	}
	return nil
}
