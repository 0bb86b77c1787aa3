# connect-actuator serve:  docker build --tag connect-actuator:local .
# The sample shop:         docker build --target sample --tag connect-actuator-sample:local .

FROM node:24-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund && mkdir /packed && npm pack --pack-destination /packed

# USER is the number of the user node: with runAsNonRoot, Kubernetes refuses names. The health check needs no option, while
# /actuator/health/readiness needs the option health.
FROM build AS sample
ENV NODE_ENV=production
USER 1000
# The shop itself listens on 127.0.0.1:8080, for the visitors that the sample sends.
EXPOSE 9001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9001/actuator/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=1", "src/sample/start.js"]
CMD ["--config", "deploy/shop.json"]

FROM node:24-slim AS serve
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /packed/*.tgz /tmp/
# With the clients of every engine and store.
RUN npm install --no-audit --no-fund --no-save /tmp/*.tgz redis@6 pg@8 \
  @nats-io/transport-node@3 @nats-io/jetstream@3 @nats-io/kv@3 && rm -r /tmp/*.tgz /root/.npm
USER 1000
EXPOSE 9001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9001/actuator/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "node_modules/connect-actuator/bin/connect-actuator.js"]
CMD ["serve"]
