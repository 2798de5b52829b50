/** Resolves the extensions that match and rewrite paths by templates. */
import type { RouteMatch as RouteMatchMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { UriTemplateMatchConfig } from '../../../shared/api/generated/envoy/extensions/path/match/uri_template/v3/uri_template_match.ts';
import type { UriTemplateRewriteConfig } from '../../../shared/api/generated/envoy/extensions/path/rewrite/uri_template/v3/uri_template_rewrite.ts';
import { checkPathTemplate, rewriteVariables } from './check-path-template.ts';
import type { Route } from '../../../shared/resources/routes/route.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import type { Scope } from '../scope.ts';

/** The extension gives the template's text. */
export const PATH_MATCH = new ExtensionRegistry<string>('envoy.path.match', 'path matcher', [
  extension(
    'envoy.path.match.uri_template.uri_template_matcher',
    'envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig',
    ({ path_template: template = '' }: UriTemplateMatchConfig, scope) => {
      const result = checkPathTemplate(template);
      if (result.ok) return template;
      const text = `path_match_policy.path_template ${template} is invalid: ${result.error}`;
      scope.at('path_template').error('path_template', text);
      return undefined;
    },
  ),
]);

export const PATH_REWRITE = new ExtensionRegistry<string>('envoy.path.rewrite', 'path rewriter', [
  extension(
    'envoy.path.rewrite.uri_template.uri_template_rewriter',
    'envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig',
    ({ path_template_rewrite: template = '' }: UriTemplateRewriteConfig, scope) => {
      if (rewriteVariables(template) !== undefined) return template;
      const text = `path_rewrite_policy.path_template_rewrite ${template} is invalid`;
      scope.at('path_template_rewrite').error('path_template', text);
      return undefined;
    },
  ),
]);

export function resolvePathTemplate(
  policy: NonNullable<RouteMatchMessage['path_match_policy']>,
  scope: Scope,
): string | undefined {
  return PATH_MATCH.resolve(policy, scope);
}

/** A rewrite needs a template that names every variable it uses. */
export function checkTemplateVariables({ match, action }: Route, scope: Scope): void {
  if (action.kind !== 'cluster' || action.pathRewrite?.kind !== 'template') return;
  const { template: rewrite } = action.pathRewrite;
  const place = scope.at('route', 'path_rewrite_policy');
  if (match.path.kind !== 'template') {
    place.error('conflict', 'path_rewrite_policy needs a path_match_policy in the route’s match');
    return;
  }
  const known = checkPathTemplate(match.path.template);
  const wanted = rewriteVariables(rewrite) ?? [];
  if (!known.ok || wanted.every((name) => known.variables.includes(name))) return;
  place.error(
    'conflict',
    `mismatch between variables in path_match_policy ${match.path.template} and path_rewrite_policy ${rewrite}`,
  );
}
