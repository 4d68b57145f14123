from .charts import plot as plot
from .page import write_report as write_report
from .sections import GamePages as GamePages
from .sections import Section as Section
from .sections import Untabled as Untabled
