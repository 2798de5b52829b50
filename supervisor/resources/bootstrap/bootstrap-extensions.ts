/** Extensions of the server as a whole. */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { AdminPages } from '../../resolved/admin-pages.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { SCRIPT_ADMIN_PAGES } from './script-admin-pages.ts';
import type { Scope } from '../scope.ts';

export const EXTENSIONS = new ExtensionRegistry<AdminPages | true>(
  'envoy.bootstrap',
  'bootstrap extension',
  [
    // It allows internal listeners; the size of a buffer of Envoy's has no counterpart here.
    extension(
      'envoy.bootstrap.internal_listener',
      'envoy.extensions.bootstrap.internal_listener.v3.InternalListener',
      () => true,
    ),
    // Sockets of the kernel are the only ones here, too; an io_uring of Envoy's is only an option.
    extension(
      'envoy.extensions.network.socket_interface.default_socket_interface',
      'envoy.extensions.network.socket_interface.v3.DefaultSocketInterface',
      () => true,
    ),
    SCRIPT_ADMIN_PAGES,
  ],
);

export const REGEX_ENGINES = new ExtensionRegistry<true>('envoy.regex_engines', 'regex engine', [
  extension(
    'envoy.regex_engines.google_re2',
    'envoy.extensions.regex_engines.v3.GoogleRE2',
    () => true,
  ),
]);

export const LISTENER_MANAGERS = new ExtensionRegistry<true>(
  'envoy.listener_manager_impl',
  'listener manager',
  [
    extension(
      'envoy.listener_manager_impl.default',
      'envoy.config.listener.v3.ListenerManager',
      () => true,
    ),
  ],
);

/** Listeners without a socket need it. */
export function allowsInternalListeners(message: Bootstrap): boolean {
  return (message.bootstrap_extensions ?? []).some(
    ({ typed_config: config }) =>
      config?.['@type'].endsWith('internal_listener.v3.InternalListener') === true,
  );
}

/** Gives the pages of the administration interface among them. */
export function resolveBootstrapExtensions(
  message: Bootstrap,
  scope: Scope,
): readonly AdminPages[] {
  const pages: AdminPages[] = [];
  for (const [index, entry] of (message.bootstrap_extensions ?? []).entries()) {
    const resolved = EXTENSIONS.resolve(entry, scope.at('bootstrap_extensions', index));
    if (typeof resolved === 'object') pages.push(resolved);
  }
  const { default_regex_engine: engine, listener_manager: manager } = message;
  if (engine !== undefined) REGEX_ENGINES.resolve(engine, scope.at('default_regex_engine'));
  if (manager !== undefined) LISTENER_MANAGERS.resolve(manager, scope.at('listener_manager'));
  return pages;
}
