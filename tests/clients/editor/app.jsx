// The block editor of WordPress 6.9 over a record of the server: what its own pages are made of, without those pages.
import apiFetch from '@wordpress/api-fetch';
import { BlockEditorProvider, BlockList, BlockTools, ObserveTyping, WritingFlow, store as blockEditor } from '@wordpress/block-editor';
import { registerCoreBlocks } from '@wordpress/block-library';
import { createBlock } from '@wordpress/blocks';
import { EntityProvider, store as core, useEntityBlockEditor } from '@wordpress/core-data';
import { dispatch, select, useSelect } from '@wordpress/data';
import { createRoot } from 'react-dom/client';

const asked = new URLSearchParams(location.search);
const [credentials, post] = ['credentials', 'post'].map((name) => asked.get(name));

apiFetch.use(apiFetch.createRootURLMiddleware(`${location.origin}/wp-json/`));
apiFetch.use((options, next) =>
  next({ ...options, headers: { ...options.headers, Authorization: `Basic ${btoa(credentials)}` } }),
);

function Editor() {
  const [blocks, onInput, onChange] = useEntityBlockEditor('postType', 'post', { id: Number(post) });
  return (
    <BlockEditorProvider value={blocks} onInput={onInput} onChange={onChange} settings={{}} useSubRegistry={false}>
      <BlockTools>
        <WritingFlow>
          <ObserveTyping>
            <BlockList />
          </ObserveTyping>
        </WritingFlow>
      </BlockTools>
    </BlockEditorProvider>
  );
}

function Page() {
  const title = useSelect((select) => select(core).getEntityRecord('postType', 'post', Number(post))?.title?.raw);
  if (title === undefined) return <p id="waiting">…</p>;
  return (
    <EntityProvider kind="postType" type="post" id={Number(post)}>
      <h1 id="title">{title}</h1>
      <Editor />
    </EntityProvider>
  );
}

window.editor = {
  insert: (name, attributes) => dispatch(blockEditor).insertBlocks(createBlock(name, attributes)),
  blocks: () => select(blockEditor).getBlocks().map((block) => block.name),
  save: () => dispatch(core).saveEditedEntityRecord('postType', 'post', Number(post), { throwOnError: true }),
};
registerCoreBlocks();
createRoot(document.getElementById('root')).render(<Page />);
