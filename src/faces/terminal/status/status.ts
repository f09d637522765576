import { statusJson } from '../../json/status-json.ts';
import { statusFacts } from '../../json/status-standing.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { terminalOf } from '../kit/terminal.ts';
import { statusScreen } from './status-lines.ts';

/** `status`: shows where everything stands, also that no daemon runs or files wait. */
export const status: Handler = async (context, _args, options) => {
  if (options.metrics === true && context.options.json) throw new Stop('name --json or --metrics, not both');
  if (options.metrics === true) return (await import('./status-metrics.ts')).statusMetrics(context);
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const terminal = terminalOf(context, app.config, app.clock.iso());
    const standing = await statusFacts(app);
    const { mode } = app.config;
    return {
      code: standing.findings.length > 0 ? 4 : 0,
      screen: statusScreen({ ...standing, terminal }, app.config),
      json: { shape: 'status', fields: statusJson(standing, mode) },
    };
  });
};
