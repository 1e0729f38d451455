# Builds the one binary, runs it alone in an empty folder as the build always does, and puts nothing else into the image.
FROM node:20-slim AS build
WORKDIR /berth
# Bun and the packages change less often than the code.
COPY package.json bun.lock ./
COPY scripts scripts
RUN node scripts/with-bun.mjs --version
COPY . .
RUN npm run build && mkdir /empty

# glibc and libstdc++, a CA bundle, time zones and a user without rights; no shell.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /berth/dist/berth /usr/local/bin/berth
COPY --from=build --chown=nonroot:nonroot /empty /data
USER nonroot
WORKDIR /data
# The backend stays on loopback, where the web surface and the health check find it; set BACKEND_HOST to open it.
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 3000 1935
# Turns in flight may take SHUTDOWN_GRACE (20 s) to end: stop with `docker stop -t 30`.
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s --retries=3 CMD ["/usr/local/bin/berth", "health"]
ENTRYPOINT ["/usr/local/bin/berth"]
CMD ["serve"]
