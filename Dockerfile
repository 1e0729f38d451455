# Builds and smoke-tests the binary, and copies only the binary into the image.
FROM node:20-slim AS build
WORKDIR /berth
# Bun and the packages change less often than the code.
COPY package.json bun.lock ./
COPY scripts scripts
RUN node scripts/with-bun.mjs --version
COPY . .
RUN npm run build && mkdir /empty

# Has glibc, libstdc++, CA certificates, time zones and an unprivileged user; no shell.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /berth/dist/berth /usr/local/bin/berth
COPY --from=build --chown=nonroot:nonroot /empty /data
USER nonroot
WORKDIR /data
# The backend listens on loopback, for the web surface and the health check; set BACKEND_HOST to expose it.
# Bun's limit of requests at a time: `berth serve` would set it and start the process a second time.
ENV HOST=0.0.0.0 DATA_DIR=/data BUN_CONFIG_MAX_HTTP_REQUESTS=65336
VOLUME /data
EXPOSE 3000 1935
# Running turns have SHUTDOWN_GRACE (20 s) to end: stop with `docker stop -t 30`.
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s --retries=3 CMD ["/usr/local/bin/berth", "health"]
ENTRYPOINT ["/usr/local/bin/berth"]
CMD ["serve"]
