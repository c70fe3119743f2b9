"""Tables in files: sources, clean columns, how columns enter a model, samples of rows."""

from unassuming.cli.tables._columns import Columns as Columns
from unassuming.cli.tables._columns import Loaded as Loaded
from unassuming.cli.tables._columns import choose as choose
from unassuming.cli.tables._columns import load as load
from unassuming.cli.tables._columns import load_inputs as load_inputs
from unassuming.cli.tables._columns import require_observations as require_observations
from unassuming.cli.tables._columns import split_names as split_names
from unassuming.cli.tables._sample import SIZE as SIZE
from unassuming.cli.tables._sample import RowSample as RowSample
from unassuming.cli.tables._sources import Chunk as Chunk
from unassuming.cli.tables._sources import Ranges as Ranges
from unassuming.cli.tables._sources import Reading as Reading
from unassuming.cli.tables._sources import Source as Source
from unassuming.cli.tables._sources import open_source as open_source
from unassuming.cli.tables._terms import Kind as Kind
from unassuming.cli.tables._terms import Term as Term
from unassuming.cli.tables._terms import choose_terms as choose_terms
from unassuming.cli.tables._terms import encoder as encoder
from unassuming.cli.tables._terms import in_words as in_words
from unassuming.cli.tables._terms import terms_as_data as terms_as_data
from unassuming.cli.tables._terms import terms_from_data as terms_from_data
