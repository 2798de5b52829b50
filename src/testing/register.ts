/**
 * The package export `sluice/register`, for `node --import sluice/register`: modules in TypeScript
 * are loaded as the server loads them, also by a runtime that knows no TypeScript.
 */
import { register } from 'node:module';

register('./register-hooks.js', import.meta.url);
