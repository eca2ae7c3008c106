"""Starts krm-fn in the image: `python -I -B -S` and this, without what `site` looks for.

The environment of the image has no `.pth` files and no user; its packages are beside this file.
"""

import sys

folder = __file__.rpartition("/")[0].rpartition("/")[0]
sys.path.append(f"{folder}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages")

from krm_fn.__main__ import main  # noqa: E402

main()
