export { Button, LinkButton } from "./button";
export { confirmed, Dialog, Questions } from "./dialog";
export { Field, type FieldIds } from "./field";
export { Icon, isIcon, type IconName } from "./icon";
export { Menu, type MenuItem } from "./menu";
export { Pagination } from "./pagination";
export { Empty, Failed, Loading, Skeleton } from "./states";
export { NavTabs, Tabs, type Tab } from "./tabs";
export { announce, Announcements, toast, Toasts } from "./toast";
