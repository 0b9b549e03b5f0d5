# The service with its dashboard. All of its data is in /data.
#
#   docker build -t session-capture .
#   docker run -p 4400:4400 -v session-capture:/data -e PUBLIC_URL=http://localhost:4400 session-capture

FROM node:24-bookworm-slim AS build
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
COPY contract/package.json contract/
COPY transcript/package.json transcript/
COPY redact/package.json redact/
COPY server/package.json server/
COPY cli/package.json cli/
COPY dashboard/package.json dashboard/
RUN npm install --no-save --no-progress
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /source/server/dist server/dist
COPY --from=build /source/dashboard/dist dashboard/dist
COPY --from=build /source/dist/download dist/download
COPY --from=build /source/LICENSE ./
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4400 OPERATIONS_PORT=4401 DATA_DIR=/data
# Uses less memory for a tenth more processor time: a small young generation, and two memory pools for all threads.
ENV NODE_OPTIONS=--max-semi-space-size=4 MALLOC_ARENA_MAX=2
EXPOSE 4400 4401
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4401/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "server/dist/main.cjs"]
