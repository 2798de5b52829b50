/** The pages of docs/, the types and the table of refused fields that are made from the code, with their texts. */
import { join } from 'node:path';
import { recipePage } from '../../src/commands/example/recipe-page.ts';
import { featurePage } from '../../src/commands/features/feature-report.ts';
import { optionReference } from '../../src/options/option-reference.ts';
import { adminReference } from '../../supervisor/admin/admin-reference.ts';
import type { AdminRoute } from '../../supervisor/admin/admin-route.ts';
import { adminRoutes } from '../../supervisor/admin/admin-routes.ts';
import { endpointTypes } from '../../supervisor/admin/endpoint-types.ts';
import { createMessageTypes } from '../../supervisor/admin/message-types.ts';
import { type FieldGroup, printFieldGroups } from '../../supervisor/features/field-groups.ts';
import { features } from '../../supervisor/features/features.ts';
import { Profilers } from '../../supervisor/profiling/profilers.ts';
import { messagePage } from './message-catalogue.ts';
import { readFieldGroups } from './read-field-groups.ts';

export interface Page {
  readonly path: string;
  readonly text: () => string;
}

const root = join(import.meta.dirname, '..', '..', '..');
const docs = join(root, 'docs');

function groups(): readonly FieldGroup[] {
  return readFieldGroups(root, createMessageTypes());
}

export const PAGES: readonly Page[] = [
  { path: join(docs, 'options.md'), text: optionReference },
  { path: join(docs, 'admin.md'), text: () => adminReference(routes()) },
  {
    path: join(root, 'src', 'admin-client', 'admin-endpoints.ts'),
    text: () => endpointTypes(routes()),
  },
  { path: join(docs, 'recipes.md'), text: recipePage },
  { path: join(docs, 'features.md'), text: () => featurePage(features(), groups()) },
  {
    path: join(root, 'supervisor', 'features', 'refused-fields.ts'),
    text: () => printFieldGroups(groups()),
  },
  { path: join(docs, 'messages.md'), text: () => messagePage(root) },
];

function routes(): readonly AdminRoute[] {
  return adminRoutes({ types: createMessageTypes(), profilers: new Profilers() });
}
