CALL concurrent.find_torn_sets();
\sleep 20 ms
