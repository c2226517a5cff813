import { useState } from 'react';
import { useLocation } from 'wouter';

import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { saveFile } from '../../lib/save-file.ts';
import { formatNumber } from '../../lib/text.ts';
import { formatTime } from '../../lib/time.ts';
import type { Past } from './past.ts';
import { ReturnDialog } from './return-dialog.tsx';
import { momentWords } from './words.ts';

/** Says on every page that an earlier moment is shown, until somebody goes back to now. */
export function AsOfBar({ past }: { readonly past: Past | undefined }) {
  const [location] = useLocation();
  const [isReturning, setReturning] = useState(false);
  const mayReturn = useMayWrite('admins');
  return (
    <div className="as-of" role="status">
      <Icon name="clock" />
      <div>
        {past === undefined ? (
          <b className="strong">You look at an earlier moment. Nothing can be edited here.</b>
        ) : (
          <>
            <b className="strong">You look at {momentWords(past.at, past.moment)}</b> <About past={past} />
          </>
        )}
      </div>
      <div className="actions">
        {past === undefined ? null : (
          <>
            <Button small icon="download" onClick={() => exportFile(past)}>
              Export
            </Button>
            {mayReturn ? (
              <Button small onClick={() => setReturning(true)}>
                Return to this moment…
              </Button>
            ) : null}
          </>
        )}
        <ButtonLink small look="primary" to={`${location}?at=`}>
          Back to now
        </ButtonLink>
      </div>
      {isReturning && past !== undefined ? <ReturnDialog past={past} onClose={() => setReturning(false)} /> : null}
    </div>
  );
}

function About({ past: { moment, later } }: { readonly past: Past }) {
  const { version, created_at: at } = moment;
  const when = at === null ? 'before the first change that is known' : `changed last ${formatTime(at)}`;
  return (
    <span>
      · version {formatNumber(version)}, {when}
      {later === null ? '; nothing has changed since' : ''}. Nothing can be edited here.
    </span>
  );
}

/** The entries as a file that `gatehouse plan` and `apply` take: JSON is YAML. */
function exportFile({ entries, moment: { version } }: Past): void {
  const sections: Record<string, Record<string, unknown>> = {};
  for (const { kind, name, fields } of entries) (sections[kind] ??= {})[name] = fields;
  // In files, `${` begins a variable.
  const text = JSON.stringify(sections, undefined, 2).replaceAll('${', () => '$${');
  saveFile(`gatehouse-${version}.yaml`, 'application/yaml', `${text}\n`);
}
