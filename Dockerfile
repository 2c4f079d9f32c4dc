# maskgate in a container: docker build -t maskgate . && docker run -p 9200:9200 maskgate serve http://gym:9100 --host 0.0.0.0
# Runs as a user without rights, and with a read-only root when /tmp can be written: held answers past holdMemoryBytes go there.
ARG NODE_IMAGE=node:22-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    MASKGATE_ADMIN_PORT=9201
WORKDIR /app
COPY package.json LICENSE ./
COPY bin ./bin
COPY config ./config
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The user `node` of the image, as a number: Kubernetes can tell that it is not root.
USER 1000:1000
EXPOSE 9200
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MASKGATE_ADMIN_PORT}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/maskgate.js"]
# With MASKGATE_UPSTREAM and nothing else, everything is forwarded unchanged.
CMD ["serve", "--host", "0.0.0.0"]
