import '../styles/base.css';
