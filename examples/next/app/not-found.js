export default function NotFound() {
  return <><h1>Not found</h1><p>There is nothing at this address. <a href="/">To the first page</a></p></>;
}
