import { useState } from 'react';
import { useLocation } from 'wouter';

import { Button } from '../../components/button.tsx';
import { explanationOf } from '../../parts/past-requests.ts';

/** Takes the id that a visitor reads out from the page that has refused them. */
export function AskId({ id = '' }: { readonly id?: string }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState(id);
  const wanted = text.trim();
  return (
    <form
      className="ask"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(explanationOf({ id: wanted }));
      }}
    >
      <input
        className="input"
        aria-label="Id of a request"
        placeholder="Id of a request: op_…"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button look="primary" type="submit" disabled={wanted === ''}>
        Explain
      </Button>
    </form>
  );
}
