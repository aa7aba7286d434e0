# Runs inside the new namespaces: furnish.sh FOLDER CGROUP NODE-ADDRESS API-ADDRESS
folder=$1 cgroup=$2 node=$3 api=$4

# All is private still. What is bound before it is made shared gets a peer group of its own: a mount below /var/lib would
# otherwise be seen a second time in $folder, and the kubelet takes that for another user of the volume.
mount --bind "$folder/var-lib" /var/lib
mount --bind "$folder/var-log" /var/log
mount -t tmpfs -o mode=755 run /run

# Each hierarchy of the host, from the cluster's group down.
for hierarchy in /sys/fs/cgroup/*; do
  [ -d "$hierarchy/$cgroup" ] && mount --bind "$hierarchy/$cgroup" "$hierarchy"
done

# The kubelet wants these values and would set them, on the whole host. It finds them set.
pretend() {
  mkdir -p "$folder/sysctls/${1%/*}"
  echo "$2" >"$folder/sysctls/$1"
  mount --bind "$folder/sysctls/$1" "/proc/sys/$1"
}
pretend vm/overcommit_memory 1
pretend vm/panic_on_oom 0
pretend kernel/panic 10
pretend kernel/panic_on_oops 1
pretend kernel/keys/root_maxkeys 1000000
pretend kernel/keys/root_maxbytes 25000000

# Mounts have to travel between the kubelet and the driver's container.
mount --make-rshared /

ip link set lo up
ip address add "$node/32" dev lo
# No kube-proxy: what pods know as the API server's address is an address of the node.
ip address add "$api/32" dev lo
