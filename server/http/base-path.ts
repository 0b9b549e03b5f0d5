import type { FastifyInstance } from 'fastify';

/**
 * Removes the base path from the address of a request, so that nothing behind it has to know the path. A proxy may pass the path
 * on or remove it, and the operator need not say which: an address without the path stays as it is.
 */
export function removeBasePath(base: string, address: string): string {
  if (base === '' || !address.startsWith(base)) return address;
  const rest = address.slice(base.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : address;
}

/**
 * Refuses a base path that begins like one of the routes that are added later: of an address below it, nobody could say whether
 * a proxy has removed the path.
 */
export function refuseOwnPath(app: FastifyInstance, base: string): void {
  const [, first = ''] = base.split('/');
  if (first === '') return;
  app.addHook('onRoute', ({ url }) => {
    if (url.split('/')[1] !== first) return;
    throw new Error(
      `PUBLIC_URL must not have a path that begins with /${first}: the service has addresses of its own there. Choose another path, such as /capture.`,
    );
  });
}
