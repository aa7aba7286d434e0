# The driver with the tools of its filesystems, and nothing that builds it.
#   docker build -t fake-csi:dev .
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Nothing that is installed may run a program of its own, and nothing needs to.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.cjs scripts/build.cjs
COPY scripts/lib/compile-bundle.cjs scripts/lib/node-flags.cjs scripts/lib/
COPY src src
RUN npm run build --silent \
 && rm dist/.tsbuildinfo \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

# The programs that src/host/linux/filesystems-tools.ts forks, with their libraries. The packages whole would bring Python
# and ICU for xfs_scrub: 75 MB that nobody calls.
FROM ${BASE} AS tools
RUN find -L /usr/lib -name '*.so*' | sort > /before \
 && apt-get update \
 && apt-get install -y --no-install-recommends btrfs-progs e2fsprogs xfsprogs
RUN set -eu; \
    take() { folder=$(readlink -f "$(dirname "$1")"); mkdir -p "/out$folder"; cp -L "$1" "/out$folder/"; }; \
    for tool in mkfs.ext4 e2fsck resize2fs mkfs.xfs mkfs.btrfs; do \
      program=$(command -v "$tool"); \
      take "$program"; \
      for library in $(ldd "$program" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p'); do \
        grep -qxF "$(readlink -f "$(dirname "$library")")/$(basename "$library")" /before || take "$library"; \
      done; \
    done; \
    take /etc/mke2fs.conf; \
    for package in btrfs-progs e2fsprogs xfsprogs; do take "/usr/share/doc/$package/copyright"; done

FROM ${BASE}
COPY --from=tools /out/ /
WORKDIR /app
COPY package.json LICENSE ./
COPY proto proto
COPY scenarios scenarios
COPY deploy deploy
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN ln -s /app/dist/cli/main.js /usr/local/bin/fake-csi
ENV NODE_ENV=production
ENTRYPOINT ["fake-csi"]
CMD ["serve"]
